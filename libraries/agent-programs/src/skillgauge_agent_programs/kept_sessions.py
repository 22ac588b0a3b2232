"""Session files that an agent's program wrote by itself, outside of any workspace: read line by line, never followed.

What a line says is as trustworthy as the file, which its user names; nothing in it is executed or opened.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from skillgauge.api import EventKind, FailureClass, JsonValue, TrajectoryEvent

from .failures import failed
from .homes import FILE_BYTES, lines_of
from .json_lines import bounded_text, parse_line, text_at

_FIRST_LINES, _FIRST_BYTES = 60, 4 * 1024 * 1024
"""What is looked at to tell whose file it is."""
_PATHS = re.compile(r"([^\s/\\'\"]+)[/\\]SKILL\.md\b")
_FRONT_MATTER = re.compile(r"^---[ \t]*\n(?:[^\n]*\n){0,40}?name:[ \t]*[\"']?([^\s\"']+)[\"']?[ \t]*\n", re.MULTILINE)

NO_ANSWER = failed(FailureClass.KILLED, "its file ends before an answer: it was broken off, or still goes on")


def beginning(path: Path) -> Iterator[Mapping[str, JsonValue]]:
    """Objects in the first lines of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb"):  # so that what cannot be opened is told
        pass
    for number, line in enumerate(lines_of(path, _FIRST_BYTES)):
        if number == _FIRST_LINES:
            return
        if record := parse_line(line):
            yield record


@dataclass
class KeptFile:
    """A session file that is read whole.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger than anything that is read.
    """

    path: Path
    began: float | None = field(default=None, init=False)
    """Seconds since the epoch of the earliest line that has a time; known once it was read."""
    ended: float | None = field(default=None, init=False)
    is_cut: bool = field(default=False, init=False)
    """Whether its last line is not finished."""
    damaged: int = field(default=0, init=False)
    """Lines that are no JSON objects."""

    def __post_init__(self) -> None:
        if self.path.stat().st_size > FILE_BYTES:
            raise ValueError(f"it has more than {FILE_BYTES // 2**20} MiB")

    def records(self) -> Iterator[Mapping[str, JsonValue]]:
        """Objects in its lines; the facts below belong to what was read of it last."""
        self.damaged, self.is_cut = 0, False
        for line in lines_of(self.path):
            record = parse_line(line)
            self.is_cut = record is None or not line.endswith(b"\n")
            if record is None:
                self.damaged += bool(line.strip())
                continue
            moment = moment_of(text_at(record, "timestamp"))
            if moment is not None:
                self.began = min(moment, self.began or moment)
                self.ended = max(moment, self.ended or moment)
            yield record

    @property
    def duration_s(self) -> float | None:
        """Seconds from its first line to its last; with what its user took to write, if he wrote again."""
        return None if self.began is None or self.ended is None else self.ended - self.began

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the file for a reader of the session."""
        return (f"{self.damaged} damaged lines of its file were passed over",) if self.damaged else ()


def moment_of(text: str | None) -> float | None:
    """Seconds since the epoch of a time as ISO 8601 writes it; `None` if it is none."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError, OSError):
        return None


def said_by_user(text: str) -> TrajectoryEvent:
    """The event of a further turn of the user."""
    return TrajectoryEvent(kind=EventKind.USER, text=bounded_text(text))


def read_skills(events: Iterable[TrajectoryEvent], offered: Collection[str]) -> Iterator[str]:
    """Yield the offered skills whose file a tool gave to the agent: by its path, or by the name at its beginning."""
    calls: dict[str | None, set[str]] = {}
    for event in events:
        if event.kind is EventKind.TOOL_CALL:
            calls[event.call_id] = set(_PATHS.findall(_texts_in(event.data)))
        elif event.kind is EventKind.TOOL_RESULT and not event.is_error and event.text.strip():
            for name in (*calls.get(event.call_id, ()), *_FRONT_MATTER.findall(event.text.replace("\r\n", "\n"))):
                if name in offered:
                    yield name


def _texts_in(value: JsonValue) -> str:
    """All texts in the arguments of a call."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(map(_texts_in, value.values()))
    return " ".join(map(_texts_in, value)) if isinstance(value, tuple) else ""
