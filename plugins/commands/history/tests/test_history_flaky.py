"""Flaky cases: which repeats are repeats of the same thing."""

from __future__ import annotations

from datetime import date
from fnmatch import fnmatchcase
from itertools import combinations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import CaseHead, Execution, Identity, Kept, PlanHead, SuiteHead, TargetHead, TrialResult, Verdict
from skillgauge.api.report import RunInfo, RunState, RunView, Summary
from skillgauge_command_history.flaky import flaky_cases, has_turned
from skillgauge_command_history.quarantine import entry_of, proposals
from skillgauge_run_views.quarantine import configuration

VERDICTS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}


def view(
    started_at: float,
    cases: dict[str, str],
    *,
    skill: str = "s1",
    content: str = "c1",
    arm: str = "a",
    replayed: bool = False,
    judge: str = "",
    sessions: dict[str, list[float]] | None = None,
    apart: str = "",
) -> RunView:
    """A run: for each case one letter per repeat. `sessions` are their times, and `apart` keeps the arm from gating."""
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
            started_at=(sessions or {}).get(case, [started_at] * 99)[repeat - 1],
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
    if apart == "baseline":
        suite = SuiteHead.model_validate(suite.model_dump() | {"comparisons": [{"candidate": "b", "baseline": arm}]})
    if apart == "quarantine":
        entries = [{"case": case, "until": "2027-01-01"} for case in cases]
        suite = SuiteHead.model_validate(suite.model_dump() | {"quarantined": entries})
    judges = (Identity(name=judge),) if judge else ()
    return RunView(
        RunInfo(run_id=f"run {started_at:g}", state=RunState.FINISHED, started_at=started_at),
        PlanHead(plan_id="p", suites=(suite,), trial_count=len(results), runs=1, seed=0, judges=judges),
        Summary.empty(),
        Kept(lambda: results, heads),
    )


def test_repeats_of_a_run_and_of_several_count_together() -> None:
    """Worst first, errors told apart, with the newest run in which the case was."""
    views = [view(2, {"often": "p", "half": "f", "good": "p"}), view(1, {"often": "ppf", "half": "pfe", "good": "ppp"})]
    found = flaky_cases(views)
    half, often = found.flaky
    assert (half.case, half.passed, half.graded, half.errors, half.runs) == ("half", 1, 3, 1, 2)
    assert (often.case, often.passed, often.graded, often.last_run) == ("often", 3, 4, "run 2")
    assert (often.flip_rate, often.pass_hat) == (pytest.approx(0.5), pytest.approx(0.25))
    assert (half.verdicts, often.verdicts) == ("pff", "ppfp")
    rate = often.pass_rate
    assert (rate.rate, rate.n, rate.method) == (0.75, 4, "wilson")
    assert rate.lower is not None
    assert rate.lower < 0.75
    assert found.steady == 1


@pytest.mark.parametrize(
    "change", [{"skill": "s2"}, {"content": "c2"}, {"arm": "b"}, {"content": ""}, {"skill": ""}, {"judge": "j"}]
)
def test_what_changed_between_two_runs_is_no_flakiness(change: dict[str, str]) -> None:
    """Another skill, case or arm, or one that is not told: the case broke, or was mended."""
    views = [view(1, {"a": "pp"}), view(2, {"a": "ff"}, **change)]
    found = flaky_cases(views)
    assert (found.flaky, found.turned, found.steady) == ((), (), 2)
    assert found.restarted == (0 if "arm" in change else 1)
    assert len(flaky_cases([*views, view(3, {"a": "f"})]).flaky) == 1


def test_a_single_run_of_a_case_tells_nothing() -> None:
    """It is neither flaky nor steady; filters leave the rest out."""
    assert flaky_cases([view(1, {"a": "p", "b": "pf"})]).steady == 0
    assert flaky_cases([view(1, {"b": "pf"})], "other").flaky == ()
    assert flaky_cases([view(1, {"b": "pf"})], "skill", "other").flaky == ()
    assert len(flaky_cases([view(1, {"b": "pf"})], "skill", "suite").flaky) == 1


def test_a_replay_is_no_further_repeat() -> None:
    """However often a recording is played, nothing new is known."""
    (case,) = flaky_cases([view(1, {"b": "pf"}), view(2, {"b": "pf"}, replayed=True)]).flaky
    assert (case.graded, case.runs) == (2, 1)


def test_a_continued_run_holds_no_session_twice() -> None:
    """It has those of the run before with their times, and new ones."""
    (case,) = flaky_cases([view(1, {"b": "pf"}), view(2, {"b": "pfp"}, sessions={"b": [1, 1, 2]})]).flaky
    assert (case.verdicts, case.runs) == ("pfp", 2)


def test_a_case_that_broke_for_good_is_not_flaky() -> None:
    """Five passes and then three failures, nothing changed: the gate should go on failing because of it."""
    nights = [view(night, {"a": "p" if night < 6 else "f", "b": "pf"[night % 2]}) for night in range(1, 9)]
    found = flaky_cases(nights)
    assert [(case.case, case.verdicts) for case in found.turned] == [("a", "pppppfff")]
    assert [case.case for case in found.flaky] == ["b"]
    assert [entry.case for entry in proposals(found.flaky, date(2027, 1, 1))] == ["b"]


@pytest.mark.parametrize("graded", range(2, 13))
def test_wavering_is_seldom_taken_for_a_change(graded: int) -> None:
    """Of all orders of the same passes and failures, at most one in twenty looks like a change."""
    for passed in range(1, graded):
        orders = [[place in chosen for place in range(graded)] for chosen in combinations(range(graded), passed)]
        assert sum(map(has_turned, orders)) <= len(orders) / 20


@pytest.mark.parametrize("apart", ["baseline", "quarantine"])
def test_what_gates_nothing_is_not_proposed(apart: str) -> None:
    """An arm that is only compared with, and a case that is in quarantine already."""
    found = flaky_cases([view(1, {"a": "pffp"}, apart=apart)])
    assert len(found.flaky) == 1
    assert proposals(found.flaky, date(2027, 1, 1)) == ()


@pytest.mark.parametrize("letters", ["ppfppp", "pppfff", "ffp"])
def test_too_little_is_no_proposal(letters: str) -> None:
    """A single accident, and one change that may have been a break: listed, and too little to hide the case."""
    found = flaky_cases([view(1, {"a": letters})])
    assert len(found.flaky) == 1
    assert proposals(found.flaky, date(2027, 1, 1)) == ()


@given(name=st.text(min_size=1, max_size=20))
def test_an_entry_can_be_pasted(name: str) -> None:
    """Whatever the case is called: the file reads as it was meant, and shows nothing that changes a terminal."""
    (entry,) = proposals(flaky_cases([view(1, {name: "pffp"})]).flaky, date(2027, 1, 31))
    text = configuration([entry_of(entry)])
    assert text.isascii()
    assert not {char for char in text if not char.isprintable()} - {"\n"}
    (read,) = yaml.safe_load(text)["quarantine"]
    assert read["until"] == date(2027, 1, 31)
    assert read["suite"] == "suite"
    assert fnmatchcase(name, read["case"])
    assert read["reason"].startswith("passed 2 of 4 (")
