"""Joined runs: every session counts once, whatever the order, and what does not fit is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import (
    CaseHead,
    Comparison,
    Execution,
    Identity,
    Kept,
    PlanHead,
    SuiteHead,
    TrialResult,
    Usage,
    UsageError,
    Verdict,
)
from skillgauge.api.report import (
    Figure,
    GroupKey,
    RunInfo,
    RunState,
    RunView,
    Spending,
    SuiteSummary,
    case_order,
    summarize,
)
from skillgauge_command_report.joining import join

ARMS = ("with", "without")
Letters = Mapping[str, str]
"""For each case a letter a repeat: `p`assed, `f`ailed, `e`rror."""
VERDICTS = {"p": Verdict.PASS, "f": Verdict.FAIL, "e": Verdict.ERROR}


def no_figures(_summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    """The suites of these tests have a format without figures."""
    return {}


def trial(
    case: str, index: int, arm: str, model: str, repeat: int, letter: str, started: float, *, replayed: bool = False
) -> TrialResult:
    """One session, which cost half a dollar."""
    return TrialResult(
        trial_id=f"{case} {arm} {model} {repeat}",
        execution_id=f"{case} {arm} {model} {repeat}",
        score_id="s",
        ordinal=0,
        suite_id="suite",
        case_index=index,
        case_id=case,
        target_id="skill",
        arm=arm,
        runner="agent",
        model=model,
        repeat=repeat,
        verdict=VERDICTS[letter],
        value={"p": 1.0, "f": 0.0}.get(letter),
        execution=Execution(text=f"{started} {letter}", usage=Usage(total_tokens=10, cost_usd=0.5), replayed=replayed),
        started_at=started,
    )


def run(run_id: str, start: float, models: Mapping[str, Letters], **changes: object) -> RunView:
    """A finished run of one suite with both arms; each session begins at its own time."""
    results = [
        trial(case, index, arm, model, repeat, letter, start + place / 1000 + repeat / 100 + index / 10)
        for place, (model, letters) in enumerate(models.items())
        for index, case in enumerate(letters)
        for arm in ARMS
        for repeat, letter in enumerate(letters[case], 1)
    ]
    return view(run_id, start, results, **changes)


def view(run_id: str, start: float, results: Sequence[TrialResult], **changes: object) -> RunView:
    """A finished run with these results."""
    cases = dict.fromkeys(result.case_id for result in results)
    suite = SuiteHead(
        id="suite",
        format="f",
        root="/",
        content_digest=run_id,
        case_count=len(cases),
        targets=(),
        arms=ARMS,
        arm_digests=("skill", "nothing"),
        comparisons=(Comparison(candidate="with", baseline="without"),),
        runs=max(result.repeat for result in results),
        trial_count=len(results),
    ).model_copy(update=changes)
    head = PlanHead(
        plan_id=f"plan of {run_id}",
        suites=(suite,),
        trial_count=len(results),
        runs=suite.runs,
        seed=0,
        runners=(Identity(name="agent"),),
        models=tuple(dict.fromkeys(result.model for result in results if result.model)),
    )
    heads = [CaseHead(suite_id="suite", index=index, id=case, digest=f"of {case}") for index, case in enumerate(cases)]
    source = Kept(lambda: results, heads)
    summary = summarize(head, sorted(results, key=case_order), figures=no_figures)
    return RunView(
        RunInfo(run_id=run_id, state=RunState.FINISHED, started_at=start, finished_at=start + 9), head, summary, source
    )


def refusal(*views: RunView) -> str:
    """The words of the refusal."""
    with pytest.raises(UsageError) as refused:
        join(views, no_figures)
    return "\n".join(problem.message for problem in refused.value.problems)


CASES = {"a": "pf", "b": "pp", "c": "fe"}
letters = st.fixed_dictionaries({case: st.text("pfe", min_size=1, max_size=3) for case in "abc"})


@pytest.mark.slow
@given(st.lists(letters, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_every_session_counts_once_in_any_order(runs: list[Letters], random: object) -> None:
    """Verdicts and cost are the sums over the runs, and joining a joined run with its parts again changes nothing."""
    views = [run(f"r{at}", at * 100.0, {"m": of_run}) for at, of_run in enumerate(runs)]
    joined = join(views, no_figures).view
    shuffled = list(views)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a `Random`
    assert join(shuffled, no_figures).view.summary == joined.summary
    verdicts = Counter(result.verdict for view in views for result in view.results())
    assert Counter(result.verdict for result in joined.results()) == verdicts
    assert joined.summary.spending is not None
    assert joined.summary.spending.cost_usd == pytest.approx(0.5 * verdicts.total())
    assert len({result.trial_id for result in joined.results()}) == verdicts.total()
    places = [(result.group, result.case_id, result.repeat) for result in joined.results()]
    assert len(set(places)) == len(places)
    assert [result.ordinal for result in joined.results()] == list(range(verdicts.total()))
    again = join([joined, *views], no_figures).view
    assert again.summary.counts == joined.summary.counts
    assert again.summary.spending == joined.summary.spending
    assert again.head.origin
    assert sorted(again.head.origin.joined) == sorted(view.run.run_id for view in views)
    assert again.head.suites[0].looks == joined.head.suites[0].looks


def test_further_models_stand_beside_the_first() -> None:
    """The same figures as if one run had had both; nobody looked twice at anything."""
    first, second = run("r1", 0.0, {"m1": CASES}), run("r2", 100.0, {"m2": {"a": "pp", "b": "ff", "c": "pp"}})
    joined = join([second, first], no_figures).view
    both = run("r", 0.0, {"m1": CASES, "m2": {"a": "pp", "b": "ff", "c": "pp"}})
    assert joined.summary.pairs == both.summary.pairs
    assert joined.summary.engines == both.summary.engines
    assert joined.head.suites[0].looks == ()
    assert joined.head.models == ("m1", "m2")
    origin = joined.head.origin
    assert origin is not None
    assert origin.joined == ("r1", "r2")
    assert origin.change == "joined from r1 (12 sessions), r2 (12 sessions)"


def test_each_run_of_the_same_model_is_a_look() -> None:
    """Adding runs until something shows is paid for, as by `eval --confirm`."""
    views = [run(f"r{at}", at * 100.0, {"m": CASES}) for at in range(3)]
    suite = join(views, no_figures).view.head.suites[0]
    assert (suite.runs, suite.fewest_runs, suite.looks) == (6, None, (2, 4))
    (pair,) = join(views, no_figures).view.summary.pairs
    assert pair.evidence is not None
    assert pair.evidence.look == 3


def test_a_recording_of_a_session_that_counts_adds_nothing() -> None:
    """A baseline session that was used again is the same session, with another start."""
    first = run("r1", 0.0, {"m": {"a": "p"}})
    replayed = [
        result.model_copy(
            update={"started_at": 200.0, "execution": result.execution.model_copy(update={"replayed": True})}
        )
        for result in first.results()
    ]
    joined = join([first, view("r2", 200.0, replayed)], no_figures)
    assert joined.view.summary.counts.total == 2
    assert joined.notices == ("nothing is added by r2: the other runs hold all of its sessions",)
    assert "2 sessions that several of them hold count once" in str(joined.view.head.origin)


def test_what_was_spent_beside_the_results_is_added() -> None:
    """Attempts that a stop cut off are in no result."""
    first, second = run("r1", 0.0, {"m": {"a": "p"}}), run("r2", 100.0, {"m": {"a": "p"}})
    spending = Spending(cost_usd=1.75, tokens=25, cut_off=1)
    more = replace(first, summary=first.summary.model_copy(update={"spending": spending, "interrupted_attempts": 1}))
    summary = join([more, second], no_figures).view.summary
    assert summary.spending is not None
    assert (summary.spending.cost_usd, summary.spending.tokens, summary.spending.cut_off) == (2.75, 45, 1)
    assert summary.interrupted_attempts == 1


def test_what_does_not_fit_is_named() -> None:
    """Everything but engines, models and repeats."""
    first = run("r1", 0.0, {"m": {"a": "p", "b": "p"}})
    assert "at least two different runs" in refusal(first, first)
    stopped = replace(run("r2", 1.0, {"n": CASES}), run=RunInfo(run_id="r2", state=RunState.STOPPED, started_at=1.0))
    assert refusal(first, stopped) == "run r2 is stopped"
    assert "only the second has 1 case: c" in refusal(first, run("r2", 1.0, {"n": CASES}))
    same = {"n": {"a": "p", "b": "p"}}
    for change, reason in {
        "arms": "its arms are with, without, and with",
        "timeout_s": "the time limit is None s, and 5.0 s",
        "arm_digests": "what is installed changed, as the skill itself, in with",
        "format": "another format reads it",
        "until_decided": "one of them ends as soon as its comparisons are decided",
    }.items():
        value = {
            "arms": ("with",),
            "timeout_s": 5.0,
            "arm_digests": ("other", "nothing"),
            "format": "g",
            "until_decided": True,
        }
        assert reason in refusal(first, run("r2", 1.0, same, **{change: value[change]}))


def test_the_same_engine_with_other_settings_is_refused() -> None:
    """Its sessions would be taken for repeats of one thing."""
    first = run("r1", 0.0, {"m": {"a": "p"}})
    others = [result.model_copy(update={"execution_id": f"other {result.execution_id}"}) for result in first.results()]
    assert "the skill, its limits or settings, or a version are not the same" in refusal(first, view("r2", 9.0, others))


def test_another_judge_is_refused_with_the_way_out() -> None:
    """Grades of two judges are not compared."""
    first, second = run("r1", 0.0, {"m": {"a": "p"}}), run("r2", 1.0, {"n": {"a": "p"}})
    judged = replace(second, head=second.head.model_copy(update={"judges": (Identity(name="strict", model="j"),)}))
    assert refusal(first, judged) == "run r1 was graded by no judge, and run r2 by strict j"


def test_a_suite_that_stops_when_decided_is_not_pooled() -> None:
    """Each run ended by its own results; other models may stand beside it."""
    first = run("r1", 0.0, {"m": {"a": "pp"}}, until_decided=True)
    assert "each ended when it was decided" in refusal(first, run("r2", 1.0, {"m": {"a": "pp"}}, until_decided=True))
    joined = join([first, run("r2", 1.0, {"n": {"a": "pp"}}, until_decided=True)], no_figures).view
    assert joined.head.models == ("m", "n")
