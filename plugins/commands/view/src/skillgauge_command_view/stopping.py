"""Stopping a run from its page: only one of the same user on the same machine, by the process that carries it out.

An evaluation that begins leaves a note with its run in the user's folder for caches, and holds a lock on the note as
long as it lives. The system itself says which process holds a lock, so that process is the one of the run, whatever
number is written anywhere; and a handle on it is taken before it is asked again, so that no other process gets the
signal though the first may end at any moment.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge.api.run import cache_folder

from .links import key_of

if TYPE_CHECKING:
    from skillgauge.api.run import Invocation

    from .rows import RunRow

_NOTES = "runs-under-way"
_LOCK = "hhqqi4x"
"""`struct flock` of Linux on 64 bits: type, from where, start, length, process."""
_held: dict[Path, int] = {}
"""The notes of this process, by their paths."""


def _folder(call: Invocation) -> Path | None:
    """The folder of notes; `None` without a home, and where the system does not tell who holds a lock."""
    caches = cache_folder(call)
    is_fit = sys.platform == "linux" and sys.maxsize > 2**32 and hasattr(os, "pidfd_open")
    return caches / _NOTES if caches is not None and is_fit else None


def leave_note(call: Invocation, run_id: str, place: str) -> None:
    """Leave a note of a run that this process carries out, if Ctrl-C would stop that run and nothing else.

    Args:
        call: the command line.
        run_id: the run.
        place: the store that keeps it, as `place_of` gives it.
    """
    folder = _folder(call)
    handler = signal.getsignal(signal.SIGINT)
    if folder is None or not getattr(handler, "__module__", "").startswith("skillgauge."):
        return
    import fcntl  # noqa: PLC0415 - not on Windows

    path = folder / f"{key_of(run_id)}.json"
    with suppress(OSError):  # then there is no button
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(folder)
        note = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        _held[path] = note
        fcntl.lockf(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(note, 0)
        os.write(note, json.dumps({"run": run_id, "place": place}).encode())
        if len(_held) == 1:
            atexit.register(_remove_notes)


def _remove_notes() -> None:
    for path in _held:
        path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove notes of processes that were killed. Our own are not opened: closing them again would drop the lock."""
    for path in folder.glob("*.json"):
        if path not in _held:
            with suppress(OSError), path.open("rb") as note:
                if not _holder(note.fileno()):
                    path.unlink()


def _holder(note: int) -> int:
    """The process that holds the lock on a note, as the system says; 0 if none does that can be seen from here."""
    import fcntl  # noqa: PLC0415 - not on Windows

    asked = struct.pack(_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _, _, _, process = struct.unpack(_LOCK, fcntl.fcntl(note, fcntl.F_GETLK, asked))
    return process if kind != fcntl.F_UNLCK and process > 0 else 0


class Stopper:
    """Stops runs that processes of this user carry out on this machine.

    Args:
        call: the command line, which knows the folder of notes.
        places: the stores that are shown, by their labels, as `place_of` gives them.
    """

    def __init__(self, call: Invocation, places: Mapping[str, str]) -> None:
        self._folder = _folder(call)
        self._places = dict(places)

    def can_stop(self, row: RunRow) -> bool:
        """Tell whether a run is carried out by a process that can be stopped from here."""
        return self._signal(row, 0)

    def stop(self, row: RunRow) -> bool:
        """Ask the process of a run to end it, as Ctrl-C in its terminal does; false if there is none."""
        return self._signal(row, signal.SIGINT)

    def _signal(self, row: RunRow, number: int) -> bool:
        place = self._places.get(row.source)
        if self._folder is None or place is None:
            return False
        path = self._folder / f"{row.key}.json"
        try:
            note = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            is_ours = os.fstat(note).st_uid == os.getuid()
            return is_ours and _says(note, row.run_id, place) and _reached(note, number)
        except (OSError, ValueError):
            return False
        finally:
            os.close(note)


def _says(note: int, run_id: str, place: str) -> bool:
    return bool(json.loads(os.read(note, 65_536)) == {"run": run_id, "place": place})


def _reached(note: int, number: int) -> bool:
    """Send a signal to the process that holds a note, if it is this user's; tell whether it got it."""
    process = _holder(note)
    if not process or process == os.getpid() or Path(f"/proc/{process}").stat().st_uid != os.getuid():
        return False
    handle = os.pidfd_open(process)
    try:
        if _holder(note) != process:  # it has ended meanwhile, and its number may be another's by now
            return False
        signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
    return True
