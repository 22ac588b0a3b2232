"""Flaky cases: which repeats are repeats of the same thing."""

from __future__ import annotations

import pytest

from skillgauge.api import CaseHead, Execution, Kept, PlanHead, SuiteHead, TargetHead, TrialResult, Verdict
from skillgauge.api.report import RunInfo, RunState, RunView, Summary
from skillgauge_command_history.flaky import flaky_cases

VERDICTS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}


def view(
    started_at: float,
    cases: dict[str, str],
    *,
    skill: str = "s1",
    content: str = "c1",
    arm: str = "a",
    replayed: bool = False,
) -> RunView:
    """A run: for each case one letter per repeat."""
    results = [
        TrialResult(
            trial_id=f"{case}{repeat}",
            execution_id="e",
            score_id="s",
            ordinal=0,
            suite_id="suite",
            case_id=case,
            case_index=place,
            target_id="skill",
            arm=arm,
            runner="r",
            model=None,
            repeat=repeat,
            verdict=VERDICTS[letter],
            execution=Execution(replayed=replayed),
            started_at=started_at,
        )
        for place, (case, letters) in enumerate(cases.items())
        for repeat, letter in enumerate(letters, 1)
    ]
    heads = [
        CaseHead(suite_id="suite", index=place, id=case, digest=content and f"{content}{case}")
        for place, case in enumerate(cases)
    ]
    suite = SuiteHead(
        id="suite",
        format="fake",
        root=".",
        content_digest="0",
        case_count=len(cases),
        targets=(TargetHead(id="skill", digest=skill),),
        arms=(arm,),
    )
    return RunView(
        RunInfo(run_id=f"run {started_at:g}", state=RunState.FINISHED, started_at=started_at),
        PlanHead(plan_id="p", suites=(suite,), trial_count=len(results), runs=1, seed=0),
        Summary.empty(),
        Kept(lambda: results, heads),
    )


def test_repeats_of_a_run_and_of_several_count_together() -> None:
    """Worst first, errors told apart, with the newest run in which the case was."""
    views = [view(2, {"often": "p", "half": "f", "good": "p"}), view(1, {"often": "ppf", "half": "pfe", "good": "ppp"})]
    (half, often), steady = flaky_cases(views)
    assert (half.case, half.passed, half.graded, half.errors, half.runs) == ("half", 1, 3, 1, 2)
    assert (often.case, often.passed, often.graded, often.last_run) == ("often", 3, 4, "run 2")
    assert (often.flip_rate, often.pass_hat) == (pytest.approx(0.5), pytest.approx(0.25))
    assert steady == 1


@pytest.mark.parametrize("change", [{"skill": "s2"}, {"content": "c2"}, {"arm": "b"}, {"content": ""}, {"skill": ""}])
def test_what_changed_between_two_runs_is_no_flakiness(change: dict[str, str]) -> None:
    """Another skill, case or arm, or one that is not told: the case broke, or was mended."""
    views = [view(1, {"a": "pp"}), view(2, {"a": "ff"}, **change)]
    assert flaky_cases(views) == ((), 2)
    assert len(flaky_cases([*views, view(3, {"a": "f"})])[0]) == 1


def test_a_single_run_of_a_case_tells_nothing() -> None:
    """It is neither flaky nor steady; filters leave the rest out."""
    assert flaky_cases([view(1, {"a": "p", "b": "pf"})])[1] == 0
    assert flaky_cases([view(1, {"b": "pf"})], "other") == ((), 0)
    assert flaky_cases([view(1, {"b": "pf"})], "skill", "other") == ((), 0)
    assert len(flaky_cases([view(1, {"b": "pf"})], "skill", "suite")[0]) == 1


def test_a_replay_is_no_further_repeat() -> None:
    """However often a recording is played, nothing new is known."""
    (case,), _ = flaky_cases([view(1, {"b": "pf"}), view(2, {"b": "pf"}, replayed=True)])
    assert (case.graded, case.runs) == (2, 1)
