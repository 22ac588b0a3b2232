"""The viewer beside an evaluation: which one is running already, and one that is started for a run.

Every `view` that serves stores leaves a note in the user's folder for caches: its port, and the stores. It holds a lock
on the note as long as it lives, so a note that nobody holds is of one that was killed, and is removed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgauge.api import PluginError, Problem
from skillgauge.api.run import cache_folder, store_place

if TYPE_CHECKING:
    from skillgauge.api.run import Invocation

_NOTES = "viewers"
_CLOSE_S = 5.0
"""How long a viewer may take to end."""


def place_of(call: Invocation) -> str:
    """The configured store, in the same words wherever the command was started."""
    place = store_place(call)
    return place if "://" in place else str(call.cwd.joinpath(place).resolve())


def _folder(call: Invocation) -> Path | None:
    """The folder of notes; `None` without a home, and on Windows, which has no such locks."""
    caches = cache_folder(call)
    return None if caches is None or sys.platform == "win32" else caches / _NOTES


@contextmanager
def noted(call: Invocation, port: int, places: Sequence[str]) -> Iterator[None]:
    """Leave a note of a viewer as long as this lasts; without a folder for it, none.

    Args:
        call: the command line.
        port: of the viewer.
        places: the stores whose runs it shows, as `place_of` gives them.
    """
    folder = _folder(call)
    if folder is None or not places:
        yield
        return
    import fcntl  # noqa: PLC0415 - not on Windows

    path = folder / f"{os.getpid()}.json"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError:  # nobody is told of it then
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, json.dumps({"port": port, "places": list(places)}).encode())
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(file)


def _ports(folder: Path, place: str) -> Iterator[int]:
    """The ports of running viewers that show a store."""
    for path in sorted(folder.glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError), path.open("rb") as file:
            if _is_held(file.fileno()):
                note = json.load(file)
                if place in note["places"]:
                    yield int(note["port"])
            else:
                path.unlink()


def _is_held(file: int) -> bool:
    import fcntl  # noqa: PLC0415 - as above

    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


class StartedViewer:
    """A viewer in a process of its own, which ends when this one does.

    Args:
        process: the viewer; its standard input keeps it alive.
        address: opens the page of the run.
    """

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address

    def wait(self) -> None:
        """See `ViewedRun.wait`."""
        with suppress(KeyboardInterrupt):
            self._process.wait()

    def close(self) -> None:
        """See `ViewedRun.close`."""
        _end(self._process)


def _end(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    try:
        process.wait(_CLOSE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class ProcessViewer:
    """Shows the runs of a store with the command `view`."""

    def address(self, call: Invocation, run_id: str) -> str | None:
        """See `RunViewer.address`. The browser that opened the viewer has the cookie that the page asks for.

        A viewer that is started later may stop the run, too, so a note is left in any case.
        """
        from .links import key_of  # noqa: PLC0415 - asked at the beginning of every run
        from .stopping import leave_note  # noqa: PLC0415 - as above

        leave_note(call, run_id, place_of(call))
        folder = _folder(call)
        port = next(_ports(folder, place_of(call)), None) if folder else None
        return f"http://127.0.0.1:{port}/runs/{key_of(run_id)}?follow=1" if port else None

    def open(self, call: Invocation, run_id: str) -> StartedViewer:
        """See `RunViewer.open`."""
        from .stopping import leave_note  # noqa: PLC0415 - only `--view` comes here

        leave_note(call, run_id, place_of(call))
        arguments = ("view", "serve", "--json", "--open", "--run", run_id, "--store", place_of(call), "--until-eof")
        process = subprocess.Popen(
            (sys.executable, "-P", "-m", "skillgauge", *arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what goes wrong stands in the document
            cwd=call.cwd,
            text=True,
            start_new_session=True,  # Ctrl-C is for the evaluation, which ends this one
        )
        document = _document(process)
        if isinstance(document.get("address"), str):
            return StartedViewer(process, document["address"])
        _end(process)
        problems = document.get("problems") or [{}]
        reason = problems[0].get("message") or f"it ended with exit code {process.returncode}"
        message = f"`skillgauge view` did not start: {reason}"
        raise PluginError(Problem("view.start", message, hint="Start it by itself to see more."))


def _document(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The JSON document that a viewer prints first; empty if it ends without one."""
    assert process.stdout
    text = ""
    while line := process.stdout.readline():
        text += line
        with suppress(ValueError):
            document = json.loads(text)
            return document if isinstance(document, dict) else {}
    return {}


VIEWER = ProcessViewer()
