"""What a run under way tells, on a terminal and elsewhere."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.decide.tally import Tally, clock_text, step_text
from skillgauge.terminal.progress import Narration, PlainProgress, Silence, make_progress
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.suite import Case
from skillgauge.types.trajectory import EventKind, TrajectoryEvent
from skillgauge.types.trial import Trial
from skillgauge.types.usage import Usage


def trial(case: str, arm: str = "with_skill", name: str = "") -> Trial:
    """A trial under way."""
    known = {"case": Case(id=case, name=name), "arm": Arm(name=arm, kind=ArmKind.AGENT)}
    return cast("Trial", SimpleNamespace(trial_id=f"{case}-{arm}", **known))


def result(case: str, verdict: Verdict, arm: str = "with_skill", cost: float | None = None) -> TrialResult:
    """A trial that has ended."""
    usages = (Usage(cost_usd=cost),) if cost else ()
    fields = {"trial_id": f"{case}-{arm}", "case_id": case, "arm": arm, "verdict": verdict, "usages": usages}
    execution = SimpleNamespace(failure=None, duration_s=3.0, notes=())
    return cast("TrialResult", SimpleNamespace(**fields, execution=execution, scores=()))


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


CALL = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", data={"command": "ls -la"})
HOSTILE = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Ba\x1b[2Jsh\n[red]", text="::stop\r" + "x" * 2000)


def test_a_line_says_all_that_one_waits_for() -> None:
    """F-12: n of N, what became of each arm, price, time left, and what an agent does."""
    clock = Clock()
    tally = Tally(10, clock)
    tally.started(trial("c"))
    for one in (result("a", Verdict.PASS, cost=0.25), result("a", Verdict.FAIL, "without_skill", 0.25)):
        tally.finished(one)
    tally.finished(result("b", Verdict.ERROR))
    clock.now += 30
    tally.step(trial("c"), CALL)
    assert tally.line() == (
        "3/10 trials (0:30, 0.50 USD, about 1:10 left): with_skill 1 passed, 1 errors; without_skill 1 failed; "
        'c (with_skill): calls Bash {"command": "ls -la"}'
    )


def test_direct_calls_have_no_arm_to_name() -> None:
    """The one arm of a suite that calls its target itself says nothing."""
    tally = Tally(2, Clock())
    tally.finished(result("a", Verdict.PASS, "direct"))
    assert tally.line().endswith(": 1 passed")


@pytest.mark.parametrize(("seconds", "shown"), [(0.4, "0:00"), (65, "1:05"), (3725, "1:02:05")])
def test_times(seconds: float, shown: str) -> None:
    """As clocks show them."""
    assert clock_text(seconds) == shown


@given(st.text(), st.text(), st.integers(10, 300))
def test_a_step_touches_no_terminal(name: str, text: str, length: int) -> None:
    """Whatever an agent says is one line of bounded length without a character that acts."""
    shown = step_text(TrajectoryEvent(kind=EventKind.MESSAGE, name=name, text=text), length)
    assert shown.isprintable()
    assert len(shown) <= length


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (CALL, 'calls Bash {"command": "ls -la"}'),
        (CALL.model_copy(update={"text": "List the\n files"}), "calls Bash List the files"),
        (TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Stop"), "calls Stop"),
        (TrajectoryEvent(kind=EventKind.TOOL_RESULT, name="Bash", data={"files": ["a"]}), "gets Bash"),
        (TrajectoryEvent(kind=EventKind.MESSAGE, text="Done."), "says Done."),
    ],
    ids=["arguments", "words before arguments", "no arguments", "content of a result", "a message"],
)
def test_a_step_says_what_an_agent_does(event: TrajectoryEvent, shown: str) -> None:
    """Its words, else the arguments of its call; what a tool answered would fill the line."""
    assert step_text(event) == shown


def test_plain_lines_come_although_nothing_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """F-12: an agent that is silent for minutes is told of from the first second on, ever more seldom."""
    clock = Clock()
    plain = PlainProgress(4, clock)
    with plain:
        plain.started(trial("a"))
        plain.tick()
        assert capsys.readouterr().err == ""
        for _ in range(600):
            clock.now += 1
            plain.tick()
        lines = capsys.readouterr().err.splitlines()
        assert lines[0] == "0/4 trials (0:01); a (with_skill)"
        assert 20 < len(lines) < 40
        plain.finished(result("a", Verdict.PASS))
    assert "1/4 trials" in capsys.readouterr().err


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither on the way nor at its end."""
    with PlainProgress(4, Clock()) as plain:
        plain.finished(result("a", Verdict.PASS))
        plain.tick()
    assert capsys.readouterr().err == ""


def test_verbose_tells_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    """`-v` is for people: who begins, what it does, how it ends and why."""
    told = Narration(1, Clock())
    told.started(trial("a"))
    told.step(trial("a"), CALL)
    told.step(trial("a"), HOSTILE)
    told.finished(result("a", Verdict.FAIL))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0:00  a (with_skill) begins"
    assert lines[1] == '0:00  a (with_skill) calls Bash {"command": "ls -la"}'
    assert lines[2].isprintable()
    assert lines[3].startswith("0:00  a (with_skill) fail in 3.0 s")


def test_verbose_calls_a_case_the_same_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    """F-3: by its name, where it has one, also in the line that says how it ended."""
    told = Narration(1, Clock())
    told.started(trial("a", name="adds-index"))
    told.finished(result("a", Verdict.FAIL))
    begins, ends = capsys.readouterr().err.splitlines()
    assert begins == "0:00  adds-index (with_skill) begins"
    assert ends.startswith("0:00  adds-index (with_skill) fail in 3.0 s")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stderr is one, and nothing of this machine's environment counts."""
    for name in ("CI", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("variable", "kind"),
    [({}, "LiveProgress"), ({"CI": "true"}, "PlainProgress"), ({"TERM": "dumb"}, "PlainProgress")],
)
def test_which_display(monkeypatch: pytest.MonkeyPatch, variable: dict[str, str], kind: str) -> None:
    """A terminal that can be written over gets the live one; logs and dumb terminals get lines; quiet gets nothing."""
    pytest.importorskip("rich")
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    assert type(make_progress(1, quiet=False)).__name__ == kind
    assert isinstance(make_progress(1, quiet=False, verbose=True), Narration)
    assert isinstance(make_progress(1, quiet=True, verbose=True), Silence)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("color", [True, False])
def test_the_live_display_fits(width: int, color: bool) -> None:
    """Every line is as wide as the terminal at most, shows the figures, and has colours only if they are wanted."""
    pytest.importorskip("rich")
    from rich.console import Console  # noqa: PLC0415 - optional

    from skillgauge.terminal.live import LiveProgress  # noqa: PLC0415

    clock = Clock()
    tally = Tally(40, clock)
    for number in range(9):
        tally.started(trial(f"a-case-with-a-long-name-{number}"))
    tally.step(trial("a-case-with-a-long-name-0"), HOSTILE)
    for verdict in Verdict:
        tally.finished(result(f"b-{verdict}", verdict, cost=0.125))
    clock.now += 42
    shown = LiveProgress(tally, io.StringIO(), color=color)
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=True, color_system="standard", no_color=not color)
    console.print(shown)
    text = written.getvalue()
    assert ("\x1b[32m1 passed" in text) is color
    assert "\x1b[2J" not in text
    plain = Console(file=io.StringIO(), width=width)
    with plain.capture() as caught:
        plain.print(shown)
    lines = caught.get().splitlines()
    assert max(map(len, lines)) <= width
    assert "4/40 trials" in lines[0]
    assert "1 passed, 1 failed, 1 errors" in caught.get().replace("\n", " ") or width == 40
    assert any("and 3 more under way" in line for line in lines)


def test_the_last_line_is_not_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """R3-F18: where a run ends in an error, nothing was done since the last line, which stands already."""
    clock = Clock()
    with PlainProgress(4, clock) as progress:
        progress.finished(result("a", Verdict.PASS))
        clock.now += 2
        progress.tick()
    assert capsys.readouterr().err.count("1/4") == 1
    with PlainProgress(4, clock) as progress:
        progress.finished(result("a", Verdict.PASS))
        clock.now += 2
        progress.tick()
        progress.finished(result("b", Verdict.PASS))
    assert capsys.readouterr().err.count("2/4") == 1
