"""Which cases `eval` names that did not pass, in which order, and the command that it gives for looking deeper."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pytest

from skillgauge.api import CaseHead, Execution, Failure, FailureClass, Kept, ResultOrder, Score, TrialResult, Verdict
from skillgauge.api.report import GroupKey, RunView, SuiteSummary
from skillgauge.decide.failing import LISTED, WIDTH, differing, failing_lines
from skillgauge.report.summary import summarize
from skillgauge.types.gate import Quarantined
from skillgauge_testkit import contract_views

VIEWS = dict(contract_views())
ARMS = VIEWS["a comparison of two arms"]


def run_of(results: Sequence[TrialResult], names: Sequence[str] = ()) -> RunView:
    """A comparison of two arms with these results, its cases named in their order."""
    heads = [
        CaseHead(suite_id="demo", index=n, id=f"case-{n}", name=name) for n, name in enumerate(names or [""] * 100)
    ]
    source = Kept(lambda: results, heads)

    def no_figures(_: SuiteSummary) -> dict[GroupKey, tuple[()]]:
        return {}

    return replace(
        ARMS, source=source, summary=summarize(ARMS.head, source.results(ResultOrder.CASE), figures=no_figures)
    )


def trial(case: int, verdicts: str, arm: str = "with_skill") -> list[TrialResult]:
    """Repeats of a case: `p`assed, `f`ailed or ended in an `e`rror."""
    kinds = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}
    down = Failure.of_agent(FailureClass.SERVER, "HTTP 500\nand much more")
    one = next(ARMS.results())
    return [
        one.model_copy(
            update={
                "case_id": f"case-{case}",
                "case_index": case,
                "arm": arm,
                "repeat": repeat,
                "verdict": kinds[letter],
                "scores": (Score.failed(f"case {case} is wrong"),) if letter == "f" else (),
                "execution": Execution(failure=down if letter == "e" else None),
            }
        )
        for repeat, letter in enumerate(verdicts, 1)
    ]


def test_the_worst_come_first_with_reason_arm_and_command() -> None:
    """Cases that always fail, then those that sometimes do, then errors; the baseline arm proves nothing bad."""
    results = [
        *trial(0, "pp"),
        *trial(1, "ee"),
        *trial(2, "pf"),
        *trial(3, "ff"),
        *trial(4, "fe"),
        *trial(0, "ff", "without_skill"),
    ]
    shown = list(failing_lines(run_of(results, ["zero", "one", "two", "", "four"]), ["run-1"]))
    assert shown == [
        "did not pass:",
        "  case-3 · with_skill: passed 0 of 2",
        "    case 3 is wrong",
        "  four · with_skill: passed 0 of 1, 1 error",
        "    case 4 is wrong",
        "  two · with_skill: passed 1 of 2",
        "    case 2 is wrong",
        "  one · with_skill: no result, 2 errors",
        "    server: HTTP 500",
        "look deeper:",
        "  skillgauge report show run-1 --case case-3 --arm with_skill",
    ]


def test_what_passed_all_the_same_has_headings_of_its_own() -> None:
    """A case that passed more often than not did pass, and one whose other repeat was an error; others are apart."""
    view = run_of([*trial(0, "pfp"), *trial(1, "pe"), *trial(2, "f"), *trial(3, "ff")])
    apart = (Quarantined(case="case-3", until="9999-12-31"),)
    suites = tuple(suite.model_copy(update={"quarantined": apart}) for suite in view.head.suites)
    view = replace(view, head=view.head.model_copy(update={"suites": suites}))
    shown = [line for line in failing_lines(view, ()) if not line.startswith("    ")]
    assert shown == [
        "did not pass:",
        "  case-2 · with_skill: passed 0 of 1",
        "passed, but not always:",
        "  case-0 · with_skill: passed 2 of 3",
        "  case-1 · with_skill: passed 1 of 1, 1 error",
        "in quarantine, not always passed:",
        "  case-3 · with_skill: passed 0 of 2",
        "to look deeper, keep the run: --format record, or a --store",
    ]


def test_nothing_is_said_or_read_if_all_passed() -> None:
    """A run without a failure costs no reading of its results."""
    view = run_of([*trial(0, "p"), *trial(0, "f", "without_skill")])

    def unread() -> list[TrialResult]:
        raise AssertionError("read")

    assert list(failing_lines(replace(view, source=Kept(unread)), ["run-1"])) == []


def test_a_long_list_is_cut_and_counted() -> None:
    """The worst ten are named, whichever come first in the suite."""
    results = [one for n in range(12) for one in trial(n, "pf" if n < 5 else "ff")]
    shown = list(failing_lines(run_of(results), ()))
    assert shown[0] == "did not pass, the worst 10 of 12:"
    named = [line.split()[0] for line in shown if line.startswith("  case-")]
    assert named == [f"case-{n}" for n in (*range(5, 12), *range(3))]
    assert len(named) == LISTED


def test_of_a_run_that_was_not_kept_the_way_to_keep_it_is_told() -> None:
    """No command is given that would find nothing."""
    assert list(failing_lines(run_of(trial(0, "f")), ()))[-1] == (
        "to look deeper, keep the run: --format record, or a --store"
    )


def test_names_hold_what_tells_groups_apart_and_no_more() -> None:
    """Two engines or models are named beside the arm, a single one is not."""
    one = GroupKey("demo", "skill", "with_skill", "claude-code", "m-1")
    assert differing([one, one.in_arm("without_skill")]) == ("arm",)
    assert differing([one, replace(one, runner="codex", model=None)]) == ("runner", "model")
    results = trial(0, "f")
    both = [*results, *(result.model_copy(update={"runner": "codex"}) for result in results)]
    shown = list(failing_lines(run_of(both), ["run-1"]))
    assert shown[1:6] == [
        "  case-0",
        "    with_skill · codex: passed 0 of 1",
        "      case 0 is wrong",
        "    with_skill · contract-agent: passed 0 of 1",
        "      case 0 is wrong",
    ]


def test_a_case_is_listed_once_however_many_models_fail_it() -> None:
    """The ten worst are ten cases, those that more models fail before others; of many models three are named."""
    results = [
        one.model_copy(update={"runner": f"agent-{engine}"})
        for case in range(12)
        for engine in range(1 if case < 2 else 5)
        for one in trial(case, "ff")
    ]
    shown = list(failing_lines(run_of(results), ()))
    assert shown[0] == "did not pass, the worst 10 of 12:"
    named = [line.strip() for line in shown if line.startswith("  case-")]
    assert named == [f"case-{n}" for n in range(2, 12)]
    assert shown.count("    and 2 more") == 10


@pytest.mark.parametrize("what", VIEWS)
def test_texts_from_outside_are_harmless_and_lines_short(what: str) -> None:
    """Whatever a run says, it moves no cursor; all but the command to copy fit a terminal."""
    shown = list(failing_lines(VIEWS[what], ["run-1"]))
    assert not [one for line in shown for one in line if unicodedata.category(one) in ("Cc", "Zl", "Zp")]
    assert max(map(len, shown[:-1]), default=0) <= WIDTH
    assert all(line.startswith("  ") for line in shown[1:-2])
    failed = any(one.verdict in ("fail", "error") and one.arm != "without_skill" for one in VIEWS[what].results())
    assert ("look deeper:" in shown) == failed
