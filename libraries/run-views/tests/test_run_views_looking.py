"""What happened in a case, on the terminal and as JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skillgauge.api import (
    CaseHead,
    EventKind,
    Execution,
    FileChange,
    FiredSkill,
    Identity,
    Kept,
    Score,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    UsageError,
)
from skillgauge.api.report import RunView
from skillgauge.api.run import Output
from skillgauge_run_views.looking import CasesDocument, Wanted, show_cases
from skillgauge_run_views.transcripts import Room, as_text, excerpt, transcript
from skillgauge_testkit import contract_views

VIEWS = dict(contract_views())
ARMS = VIEWS["a comparison of two arms"]
each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())

SESSION = Execution(
    text="Done.",
    trajectory=Trajectory(
        events=(
            TrajectoryEvent(kind=EventKind.REASONING, text="A note is needed."),
            TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", data={"command": "ls\npwd", "timeout": 5}),
            TrajectoryEvent(kind=EventKind.TOOL_RESULT, name="Bash", text="not found", is_error=True),
            TrajectoryEvent(kind=EventKind.MESSAGE, text="Done."),
        ),
        skills_offered=("notes", "other"),
        skills_fired=(FiredSkill(name="notes", how="invoked"),),
        turns=3,
        raw="RAW STREAM",
    ),
    files=(
        FileChange(path="a.note", change="created", text="one\ntwo\n"),
        FileChange(path="b.bin", change="modified", left_out="binary"),
        FileChange(path="c.txt", change="modified", was="a\nb\nc\nd\ne\nf\n", text="a\nb\nc\nd\nE\nf\n"),
        FileChange(path="d.txt", change="deleted", was="gone\n"),
        FileChange(path="e.txt", change="modified", text="of a run that kept no more"),
        FileChange(path="f.txt", change="created"),
    ),
    replayed=True,
    duration_s=2.5,
)
CHECKS = (
    Score.failed("nothing about users", value=0.25, evidence={"quote": "Done.", "stdout": ""}).model_copy(
        update={"check_id": "tells users", "scorer": "rubric", "usage": Usage(output_tokens=7)}
    ),
    Score.passed("it is there").model_copy(update={"check_id": "note", "scorer": "files", "beside": True}),
)


def view_of(*results: TrialResult) -> RunView:
    """A comparison with these results and one named case."""
    case = CaseHead(suite_id="demo", index=0, id="1", name="first-note", prompt="Write the note.\nPlease.")
    head = ARMS.head.model_copy(update={"judges": (Identity(name="scripted-judge"),)})
    return replace(ARMS, head=head, source=Kept(lambda: results, [case]))


def trial(arm: str = "with_skill", **changes: object) -> TrialResult:
    """The session in an arm."""
    first = next(ARMS.results())
    values = {"case_id": "1", "arm": arm, "verdict": "fail", "scores": CHECKS, "execution": SESSION}
    return TrialResult.model_validate(first.model_dump() | values | changes)


def shown(view: RunView, wanted: Wanted, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for people."""
    show_cases(view, wanted, Output(as_json=False, quiet=False))
    return capsys.readouterr().out


def test_a_session_can_be_read_from_prompt_to_judge(capsys: pytest.CaptureFixture[str]) -> None:
    """Prompt, reasoning, calls with their arguments, results, files, checks with reason and evidence, facts, judge."""
    assert shown(view_of(trial()), Wanted("first-note"), capsys).splitlines() == [
        "Case first-note (1) of demo",
        "Prompt",
        "  Write the note.",
        "  Please.",
        "",
        "== skill · with_skill · contract-agent · model-1, run 1: FAIL, 2.5 s",
        "Reasoning",
        "  A note is needed.",
        "Tool call Bash",
        "  command:",
        "    ls",
        "    pwd",
        "  timeout: 5",
        "Result Bash (an error)",
        "  not found",
        "Message",
        "  Done.",
        "Files",
        "  a.note (created)",
        "    +one",
        "    +two",
        "  b.bin (modified, binary)",
        "  c.txt (modified)",
        "    @@ lines 2 to 6, now 2 to 6 @@",
        "     b",
        "     c",
        "     d",
        "    -e",
        "    +E",
        "     f",
        "  d.txt (deleted)",
        "    -gone",
        "  e.txt (modified)",
        "  f.txt (created)",
        "Checks",
        "  failed tells users (rubric), value 0.25",
        "    nothing about users",
        "      quote: Done.",
        "      The judge used 7 output tokens",
        "  passed note (files, beside the verdict)",
        "    it is there",
        "Replayed: a recording, whose time and cost are not of this run",
        "Turns: 3",
        "Skills offered: notes, other",
        "Skills used: notes (invoked)",
        "",
        "Judged by scripted-judge",
    ]


@pytest.mark.parametrize("case", ["1", "first-note", "first-*", "[1]"])
def test_cases_are_found_by_id_name_or_pattern_and_arm(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The arm leaves out the other one."""
    view = view_of(trial(), trial("without_skill"))
    out = shown(view, Wanted(case), capsys)
    assert out.count("\n== ") == 2
    out = shown(view, Wanted(case, "without_skill"), capsys)
    assert out.count("\n== ") == 1
    assert "without_skill" in out


def test_what_is_not_there_is_refused_with_what_there_is() -> None:
    """A misspelt case or arm ends in a line that names the right one."""
    quiet = Output(as_json=True, quiet=True)
    with pytest.raises(UsageError, match=r"no case 'first-not' \(did you mean first-note\?\)\n.*: 1, first-note"):
        show_cases(view_of(trial()), Wanted("first-not"), quiet)
    with pytest.raises(UsageError, match=r"no trial in an arm 'without_skill'\n(.|\n)*Its arms are: with_skill"):
        show_cases(view_of(trial()), Wanted("1", "without_skill"), quiet)
    with pytest.raises(UsageError, match="Its cases are: none"):
        show_cases(view_of(), Wanted("1"), quiet)


def test_the_document_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Cases with their heads and trials, of the documented shape; only the raw stream is left out."""
    told = show_cases(view_of(trial(), trial("without_skill")), Wanted("1"), Output(as_json=True, quiet=False))
    document = CasesDocument.model_validate_json(capsys.readouterr().out)
    ((case, trials),) = [(one.case, one.trials) for one in document.cases]
    assert case.prompt == "Write the note.\nPlease."
    assert [one.arm for one in trials] == ["with_skill", "without_skill"]
    assert trials[0].execution.trajectory == SESSION.trajectory.model_copy(update={"raw": None})  # type: ignore[union-attr]  # it has one
    assert trials[0].scores == CHECKS
    assert told == "0 of 2 passed"


@each_view
def test_no_run_can_change_what_the_terminal_shows(view: RunView, capsys: pytest.CaptureFixture[str]) -> None:
    """Hostile prompts, answers, tools, files and checks print no control character but their own line breaks."""
    if next(view.results(), None) is None:
        return
    hostile = "\x1b[2J\u202eend\r\x07"
    event = TrajectoryEvent(kind=EventKind.TOOL_CALL, name=hostile, text=hostile)
    file = FileChange(path=f"{hostile}\nx", change="modified", was=hostile, text=f"x{hostile}")
    results = [
        one.model_copy(
            update={
                "execution": one.execution.model_copy(
                    update={"trajectory": Trajectory(events=(event,), skills_offered=(hostile,)), "files": (file,)}
                )
            }
        )
        for one in view.results()
    ]
    out = shown(replace(view, source=Kept(lambda: results, list(view.cases()))), Wanted("*"), capsys)
    assert not {one for one in out if one < " " or "\x7f" <= one <= "\x9f" or one in "\u202e\u2028"} - {"\n", "\t"}
    assert out.count("\n== ") == len(results)


def test_long_sessions_are_cut_in_the_middle() -> None:
    """Beginning and end tell most; what was left out is counted."""
    events = tuple(TrajectoryEvent(kind=EventKind.MESSAGE, text=f"step {n}") for n in range(10))
    one = trial(execution=Execution(trajectory=Trajectory(events=events)))
    cut = transcript(one, Room(steps=4))
    assert [step.content.text for step in cut.steps if step.content] == ["step 0", "step 1", "step 8", "step 9"]
    assert cut.steps_left_out == 6
    assert transcript(one).steps_left_out == 0
    said = excerpt("x", "a" * 100 + "z" * 100, characters=20)
    assert said.text == f"{'a' * 10}\n[… 180 characters left out …]\n{'z' * 10}"


def test_a_left_out_middle_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal shows a thousand steps of a session."""
    events = (TrajectoryEvent(kind=EventKind.MESSAGE, text="step"),) * 1_010
    out = shown(view_of(trial(execution=Execution(trajectory=Trajectory(events=events)))), Wanted("1"), capsys)
    assert "\n[… 10 steps left out …]\n" in out
    assert out.count("  step\n") == 1_000


def test_values_are_read_as_text() -> None:
    """A single text is itself, an object its keys, anything else JSON."""
    assert as_text({"command": "ls -l"}) == "ls -l"
    assert as_text({"a": "x\ny", "b": 1, "c": None}) == "a:\n  x\n  y\nb: 1"
    assert as_text((1, "é")) == '[1, "é"]'
    assert as_text("text") == "text"
