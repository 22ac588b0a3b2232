"""A run is stopped only through a note that its own process holds; every other note reaches nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from skillgauge.api.report import RunView
from skillgauge.api.run import Globals, Invocation, invocation
from skillgauge_command_view import stopping
from skillgauge_command_view.rows import RunRow, row_of
from skillgauge_command_view.stopping import Stopper, leave_note

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux says who holds a lock and gives handles on processes"
)

PLACE = "/somewhere/runs.db"
HOLDER = """import fcntl, pathlib, signal, sys
note = open(sys.argv[1], "r+")
fcntl.lockf(note, fcntl.LOCK_EX)
signal.signal(signal.SIGINT, lambda *_: (print("stopped", flush=True), sys.exit()))
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invocation:
    """A command line whose folder for caches is empty."""
    monkeypatch.setenv("SKILLGAUGE_CACHE_DIR", str(tmp_path))
    return invocation(Globals(quiet=True), {})


@pytest.fixture
def row(views: list[RunView]) -> RunRow:
    """A run in a list."""
    return replace(row_of(views[6], "run6", "runs.db"), run_id="run6")


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """A note of that run."""
    path = tmp_path / "runs-under-way/run6.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"run": "run6", "place": PLACE}))
    return path


@contextmanager
def held(note: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a note while this lasts."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(note)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_process_that_holds_the_note_is_stopped(call: Invocation, row: RunRow, note: Path) -> None:
    """It gets the signal of Ctrl-C, once it is asked for; looking whether it can be stopped does nothing."""
    stopper = Stopper(call, {"runs.db": PLACE})
    with held(note) as process:
        assert stopper.can_stop(row)
        assert process.poll() is None
        assert stopper.stop(row)
        assert process.stdout is not None
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(30) == 0
    assert not stopper.can_stop(row)
    assert not stopper.stop(row)


@pytest.mark.parametrize(
    "change",
    [
        lambda note: note.write_text(json.dumps({"run": "run7", "place": PLACE})),
        lambda note: note.write_text(json.dumps({"run": "run6", "place": "/elsewhere/runs.db"})),
        lambda note: note.write_text("{"),
        lambda note: note.rename(note.with_name("other.json")),
        lambda note: note.with_name("run6.json").symlink_to(note.rename(note.with_name("other.json"))),
    ],
)
def test_other_notes_reach_nobody(call: Invocation, row: RunRow, note: Path, change: Callable[[Path], object]) -> None:
    """A note of another run, of another store, a broken one, none, and a link."""
    stopper = Stopper(call, {"runs.db": PLACE})
    with held(note) as process:
        change(note)
        assert not stopper.can_stop(row)
        assert not stopper.stop(row)
        assert process.poll() is None


def test_a_note_that_nobody_holds_reaches_nobody(call: Invocation, row: RunRow, note: Path) -> None:
    """A run whose process was killed leaves a note behind; so does one of a place that is not shown."""
    assert not Stopper(call, {"runs.db": PLACE}).stop(row)
    with held(note):
        assert not Stopper(call, {"another.db": PLACE}).stop(row)
        assert not Stopper(call, {}).stop(row)


def test_only_a_process_that_ctrl_c_ends_leaves_a_note(call: Invocation, tmp_path: Path) -> None:
    """A program that evaluates among other things, as this one does, is not to be stopped from a page."""
    leave_note(call, "run6", PLACE)
    assert list(tmp_path.rglob("*.json")) == []


def test_a_number_that_belongs_to_another_process_by_now(
    call: Invocation, row: RunRow, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder ends between the question and the handle: whoever has its number then gets no signal."""
    stopper = Stopper(call, {"runs.db": PLACE})
    with held(note) as process:
        answers = iter([process.pid, 0])
        monkeypatch.setattr(stopping, "_holder", lambda _note: next(answers))
        assert not stopper.stop(row)
        assert process.poll() is None
        output, _ = process.communicate("", timeout=30)
    assert (process.returncode, output) == (0, "")
