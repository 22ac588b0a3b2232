"""Short recordings need no thread, long ones get one."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, Self

import pytest

from skillgauge.types.trajectory import EventKind, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Execution, Identity
from skillgauge_recordings import Cassette, RecordedFile, read_cassette
from skillgauge_recordings.off_loop import SHORT, is_short, read, write

MESSAGE = TrajectoryEvent(kind=EventKind.MESSAGE, text="done")
LONG = "x" * (SHORT + 1)


class Watched(Cassette):
    """A recording that tells in which thread it is written."""

    def packed(self) -> Self:
        """See `Cassette.packed`."""
        WRITTEN_IN.append(threading.current_thread())
        return super().packed()


WRITTEN_IN: list[threading.Thread] = []


def cassette(raw: str | None = None, events: tuple[TrajectoryEvent, ...] = (MESSAGE,), **fields: Any) -> Watched:
    """A recording of a session with such a trajectory."""
    execution = Execution(text="done", trajectory=Trajectory(events=events, raw=raw))
    known: dict[str, Any] = {"key": "k", "recipe": {}, "engine": Identity(name="e", version="1"), "model": None}
    return Watched(execution=execution, **known, **fields)


@pytest.mark.parametrize(
    ("recording", "short"),
    [
        (cassette(), True),
        (cassette(raw=LONG[2000:]), True),
        (cassette(raw=LONG), False),
        (cassette(events=(MESSAGE.model_copy(update={"text": LONG}),)), False),
        (cassette(events=(MESSAGE.model_copy(update={"data": {"content": [LONG]}}),)), False),
        (cassette(events=(MESSAGE,) * SHORT), False),
        (cassette(files=(RecordedFile(path="a", text=LONG),)), False),
        (cassette(files=(RecordedFile(path="a", base64=LONG[SHORT // 2 :]), RecordedFile(path="b", text=LONG))), False),
        (cassette(files=(RecordedFile(path="gone"),)), True),
    ],
    ids=["plain", "raw", "long raw", "long text", "long data", "many events", "long file", "two files", "deleted file"],
)
def test_what_is_long_is_written_in_a_thread(tmp_path: Path, recording: Watched, short: bool) -> None:
    """However it comes to its length; what is written is the same."""
    WRITTEN_IN.clear()
    path = tmp_path / "one.cassette.json"
    asyncio.run(write(path, recording))
    assert is_short(recording) == short
    assert [thread is threading.main_thread() for thread in WRITTEN_IN] == [short]
    assert read_cassette(path).model_dump_json() == recording.model_dump_json()


@pytest.mark.parametrize(("size", "short"), [(None, True), (0, True), (SHORT, True), (SHORT + 1, False)])
def test_what_is_long_is_read_in_a_thread(tmp_path: Path, size: int | None, short: bool) -> None:
    """A file that is not there is asked for where it is."""
    path = tmp_path / "one"
    if size is not None:
        path.write_bytes(b"x" * size)
    assert asyncio.run(read(path, lambda found: (found, threading.current_thread() is threading.main_thread()))) == (
        path,
        short,
    )
