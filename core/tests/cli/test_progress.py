"""What the terminal tells of a run under way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from skillgauge.cli import progress
from skillgauge.cli.progress import BarProgress, PlainProgress
from skillgauge.types.trial import EventKind, TrajectoryEvent, Trial

TRIAL = cast(Trial, SimpleNamespace(case=SimpleNamespace(id="greet"), arm=SimpleNamespace(name="with")))
HOSTILE = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Ba\x1b[2Jsh\n[red]" + "x" * 200)


@pytest.mark.parametrize("quiet", [False, True])
def test_what_an_agent_does(quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line now and then says what an agent does, since a session takes minutes; it cannot touch the terminal."""
    monkeypatch.setattr(progress, "INTERVAL_S", 0.0)
    plain = PlainProgress(4, quiet=quiet)
    plain.step(TRIAL, TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash"))
    plain.step(TRIAL, HOSTILE)
    lines = capsys.readouterr().err.splitlines()
    if quiet:
        assert lines == []
        return
    assert lines[0] == f"0/4 trials: greet (with): {EventKind.TOOL_CALL} Bash"
    assert lines[1].isprintable()
    assert len(lines) == 2
    assert len(lines[1]) < 100


def test_no_more_often_than_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """An agent that does a thousand things in a second does not fill the terminal."""
    plain = PlainProgress(4)
    for _ in range(1000):
        plain.step(TRIAL, HOSTILE)
    assert capsys.readouterr().err == ""


def test_the_bar_shows_it() -> None:
    """The bar's label is the step, without markup."""
    rich_progress = pytest.importorskip("rich.progress")
    shown = rich_progress.Progress(disable=True)
    BarProgress(4, shown).step(TRIAL, HOSTILE)
    assert "Ba(2Jsh(red]" in shown.tasks[0].description
