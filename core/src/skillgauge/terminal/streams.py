"""The one way to the terminal: whatever a command writes to stdout or stderr passes the filter for text from outside.

Names of files, ids, types and messages of others come into a hundred places that print, plugins' among them. So what
acts on a terminal or on a runner of CI is taken out where all of it passes, and no command has to think of it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from skillgauge_documents.characters import escaped, printed

from .terminal import takes_color

RED, GREEN, YELLOW = "31", "32", "33"
"""What is wrong, what is right, and what is neither."""
_BEGUN = r"\s*:?"
"""What may stand before a command of CI, or be the first half of one."""


class Shown:
    """A text stream that shows every character: nothing that is written acts, and nothing cannot be written.

    Its `buffer` is for whole documents, whose makers see to it themselves.

    Args:
        stream: where it goes.
        color: whether it may be coloured.
        after: a stream that is written out before anything here, so that both keep their order in one log.
    """

    encoding = "utf-8"
    """Of what may be written; what the stream itself cannot hold is escaped."""

    def __init__(self, stream: TextIO, *, color: bool = False, after: TextIO | None = None) -> None:
        self.unfiltered = stream
        self._after = after
        self._color = color
        self._begun = ""
        self._is_read = True

    def write(self, text: str) -> int:
        """Write a text, whatever is in it."""
        if self._after:
            with suppress(OSError):  # a full disk is that stream's own trouble, and nothing to lose a message for
                self._after.flush()
        whole = self._begun + text
        shown = printed(whole)[len(self._begun) :]
        line = whole.rpartition("\n")[2]
        self._begun = line if re.fullmatch(_BEGUN, line) else "-"
        if self._is_read:
            try:
                self.unfiltered.write(_fitting(shown, self.unfiltered.encoding))
            except BrokenPipeError:
                self._give_up()
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        try:
            self.unfiltered.flush()
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        """Nobody reads any more, as after `| head -1`; the command goes on to the verdict that it comes to in any case.

        What was not handed on must not be tried again when the interpreter ends.
        """
        self._is_read = False
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.unfiltered.fileno())
        os.close(nowhere)

    def write_in(self, color: str, text: str) -> None:
        """Write a text in a colour if the stream takes any: the one thing that acts on a terminal."""
        if not (color and self._color and text):
            self.write(text)
            return
        for raw, part in ((f"\x1b[{color}m", text), ("\x1b[0m", "")):
            self.unfiltered.write(raw)
            self.write(part)

    def writelines(self, texts: Iterable[str]) -> None:
        """Write one text after the other."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def write_in(stream: TextIO, color: str, text: str) -> None:
    """Write a text in a colour, where the stream can do that."""
    if isinstance(stream, Shown):
        stream.write_in(color, text)
    else:
        stream.write(text)


def _fitting(text: str, encoding: str | None) -> str:
    """The text with escapes for what an encoding lacks; `None` lacks nothing."""
    if _fits(text, encoding):
        return text
    return "".join(one if _fits(one, encoding) else escaped(one) for one in text)


def _fits(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def shown_streams(*, color: bool = False) -> Iterator[None]:
    """Within, stdout and stderr show every character; afterwards they are what they were.

    Args:
        color: whether terminals among them may be coloured, if they take it and the user's environment lets them.
    """
    theirs = sys.stdout, sys.stderr
    out = cast("TextIO", Shown(theirs[0], color=color and takes_color(theirs[0])))
    err = cast("TextIO", Shown(theirs[1], color=color and takes_color(theirs[1]), after=out))
    ours = out, err
    sys.stdout, sys.stderr = ours
    try:
        yield
    finally:
        for stream in ours:
            stream.flush()
        # click puts another stream in place of one that nobody reads any longer, which then has to stay.
        if sys.stdout is ours[0]:
            sys.stdout = theirs[0]
        if sys.stderr is ours[1]:
            sys.stderr = theirs[1]
