"""Grading: from an execution and a case's checks to scores, a verdict and a value."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge import log
from skillgauge.contract.judges import Judge, JudgeReply, JudgeRequest
from skillgauge.contract.providers import Provider
from skillgauge.contract.scorers import ScoreContext, Scorer
from skillgauge.errors import PluginError, Problem
from skillgauge.plugins.guard import guarded
from skillgauge.plugins.kinds import SCORERS, Resolved
from skillgauge.run.grading import Grade, Grading, grade, verdict_of_failure, verdict_of_scores
from skillgauge.run.scorers import BoundScorer
from skillgauge.types.arms import DIRECT, Arm, ArmKind
from skillgauge.types.results.trials import Verdict
from skillgauge.types.score import Score, ScoreStatus
from skillgauge.types.suite import Case, Check, FileSpec, LimitOutcome, Limits, Target, VerdictMode, VerdictRule
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, Identity, Trial
from skillgauge_testkit.fakes import FakeScorer, FakeScorers, FakeWorkspace

quick = settings(max_examples=60, deadline=None)

Decide = Callable[[ScoreContext], Score | Awaitable[Score]]
CHECKS = (Check(id="first", scorer="alias-of-exact"), Check(id="second", scorer="regex", weight=3))


def trial(**fields: Any) -> Trial:
    """A trial of one case."""
    case = fields.pop("case", None) or Case(id="c", checks=CHECKS)
    return Trial.model_validate(
        {
            "trial_id": "t",
            "execution_id": "x",
            "ordinal": 0,
            "suite_id": "s",
            "case": case,
            "case_index": 0,
            "target": Target(id="skill"),
            "arm": DIRECT,
            "runner": Identity(name="r"),
            "repeat": 1,
            "seed": 0,
            "limits": Limits(),
        }
        | fields
    )


class NoJudge:
    """Model access that nobody uses."""

    async def check(self) -> tuple[Problem, ...]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Always the same."""
        return Identity(name="judge")

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Nobody asks."""
        raise AssertionError("not asked here")


def behind_guard(scorer: Any, name: str) -> Scorer:
    """A scorer as the registry of plugins hands it out."""
    plugin = Resolved("scorers", name, Provider(name, lambda: scorer, ""), "acme", "1", name)
    return guarded(SCORERS, scorer, plugin, lambda _problem: None, named=True)


def grade_with(
    scorers: Mapping[str, Decide | FakeScorer],
    one: Trial | None = None,
    execution: Execution | None = None,
    *,
    on_agent_limit: LimitOutcome = LimitOutcome.FAIL,
    judges: tuple[Judge, ...] = (),
    judge_digest: str = "",
    workspace: FakeWorkspace | None = None,
    limit_s: float = 60.0,
) -> Grade:
    """Grade with scorers by check id; a check without one has a plugin that cannot be made."""

    def scorer_for(check: Check) -> BoundScorer:
        found = scorers.get(check.id)
        if found is None:
            raise PluginError(Problem("plugin.broken", f"{check.scorer} cannot be made"))
        scorer = found if isinstance(found, FakeScorer) else FakeScorer(found)
        name = f"own name of {check.scorer}"
        return BoundScorer(name, behind_guard(scorer, name))

    return asyncio.run(
        grade(
            one or trial(),
            execution or Execution(text="hello"),
            Grading(
                FakeScorers(scorer_for),
                {"s": on_agent_limit},
                judges=judges,
                judge_digest=judge_digest,
                limit_s=limit_s,
            ),
            workspace,
        )
    )


def passes(_context: ScoreContext) -> Score:
    """A check that holds."""
    return Score.passed("fine", evidence={"seen": 1})


def fails(_context: ScoreContext) -> Score:
    """A check that holds by half."""
    return Score.failed("half", value=0.5)


def unclear(_context: ScoreContext) -> Score:
    """A check that gives no verdict."""
    return Score.ungraded("the judge is down")


# --- failed executions ------------------------------------------------------------------------------------

BLAMES = [
    (Blame.TARGET, LimitOutcome.FAIL, Verdict.FAIL),
    (Blame.TARGET, LimitOutcome.ERROR, Verdict.FAIL),
    (Blame.INFRASTRUCTURE, LimitOutcome.FAIL, Verdict.ERROR),
    (Blame.INFRASTRUCTURE, LimitOutcome.ERROR, Verdict.ERROR),
    (Blame.AGENT_LIMIT, LimitOutcome.FAIL, Verdict.FAIL),
    (Blame.AGENT_LIMIT, LimitOutcome.ERROR, Verdict.ERROR),
    (Blame.TARGET, LimitOutcome.GRADED, Verdict.FAIL),
    (Blame.INFRASTRUCTURE, LimitOutcome.GRADED, Verdict.ERROR),
]


def test_the_matrix_of_blames_is_complete() -> None:
    """Every blame meets every meaning of an agent's limit below, but for the one case that checks decide."""
    graded = (Blame.AGENT_LIMIT, LimitOutcome.GRADED)
    everything = {(blame, outcome) for blame in Blame for outcome in LimitOutcome}
    assert {(blame, outcome) for blame, outcome, _ in BLAMES} == everything - {graded}


@pytest.mark.parametrize(("blame", "on_agent_limit", "verdict"), BLAMES)
@pytest.mark.parametrize("failure_class", [FailureClass.TIMEOUT, FailureClass.MAX_TURNS, FailureClass.CRASH])
def test_a_failed_execution_is_judged_by_its_blame_alone(
    blame: Blame, on_agent_limit: LimitOutcome, verdict: Verdict, failure_class: FailureClass
) -> None:
    """The target's failure is a fail worth 0, infrastructure's an error worth nothing; no scorer is asked."""

    def refuse(context: ScoreContext) -> Score:
        raise AssertionError("a failed execution is not graded")

    failure = Failure(failure_class=failure_class, blame=blame, message="m")
    graded = grade_with(
        {"first": refuse, "second": refuse}, execution=Execution(failure=failure), on_agent_limit=on_agent_limit
    )
    assert verdict_of_failure(blame, on_agent_limit) is verdict
    assert graded.verdict is verdict
    assert graded.value == (0.0 if verdict is Verdict.FAIL else None)
    assert graded.scores == ()


def test_an_agents_limit_is_a_fail_unless_the_suite_says_otherwise() -> None:
    """Of a suite that says nothing, and not only of one that says so."""
    failure = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.AGENT_LIMIT, message="m")
    alone = Grading(FakeScorers(lambda check: BoundScorer("x", FakeScorer(passes))))
    assert asyncio.run(grade(trial(), Execution(failure=failure), alone)).verdict is Verdict.FAIL


def test_a_failed_execution_has_the_score_id_of_a_graded_one() -> None:
    """The id says what would grade, not what came of it, so that results can be found again."""
    scorers: dict[str, Decide] = {"first": passes, "second": passes}
    failure = Failure(failure_class=FailureClass.CRASH, blame=Blame.TARGET, message="m")
    assert grade_with(scorers, execution=Execution(failure=failure)).score_id == grade_with(scorers).score_id


# --- scorers ----------------------------------------------------------------------------------------------


def test_scores_are_labelled_by_the_kernel() -> None:
    """Check, weight and the scorer's own name and version are filled in, in the order of the checks."""
    graded = grade_with({"first": passes, "second": fails})
    assert [
        (score.check_id, score.scorer, score.scorer_version, score.weight, score.status, score.value, score.reason)
        for score in graded.scores
    ] == [
        ("first", "own name of alias-of-exact", "1", 1.0, ScoreStatus.PASSED, 1.0, "fine"),
        ("second", "own name of regex", "1", 3.0, ScoreStatus.FAILED, 0.5, "half"),
    ]
    assert graded.scores[0].evidence == {"seen": 1}
    assert (graded.verdict, graded.value) == (Verdict.FAIL, (1 + 3 * 0.5) / 4)


def test_a_scorer_cannot_label_itself() -> None:
    """What a scorer writes into the kernel's fields is overwritten."""
    graded = grade_with(
        {
            "first": lambda context: Score.passed().model_copy(update={"check_id": "other", "weight": 99.0}),
            "second": passes,
        }
    )
    assert (graded.scores[0].check_id, graded.scores[0].weight) == ("first", 1.0)


def test_a_scorer_sees_its_own_check_and_everything_about_the_trial() -> None:
    """The context holds check, case, execution, arm, target, workspace and judge."""
    seen: list[ScoreContext] = []

    def look(context: ScoreContext) -> Score:
        seen.append(context)
        return Score.passed()

    arm = Arm(name="with", kind=ArmKind.AGENT)
    one, execution, workspace, judges = trial(arm=arm), Execution(text="t"), FakeWorkspace(), (NoJudge(), NoJudge())
    grade_with({"first": look, "second": look}, one, execution, workspace=workspace, judges=judges)
    assert [context.check for context in seen] == list(CHECKS)
    for context in seen:
        assert (context.case, context.execution, context.arm, context.target) == (one.case, execution, arm, one.target)
        assert context.workspace is workspace
        assert context.judge is judges[0]
        assert context.panel == judges
        assert context.clean("as it is") == "as it is"


def test_without_workspace_and_judge_a_scorer_sees_none() -> None:
    """Grading a stored execution again, there is no place to look."""

    def look(context: ScoreContext) -> Score:
        return (
            Score.passed() if (context.workspace, context.judge) == (None, None) else Score.failed("something is there")
        )

    assert grade_with({"first": look, "second": look}).verdict is Verdict.PASS


def test_a_scorer_may_wait() -> None:
    """An async scorer is awaited."""

    async def slowly(context: ScoreContext) -> Score:
        await asyncio.sleep(0)
        return Score.passed("after a while")

    assert grade_with({"first": slowly, "second": passes}).scores[0].reason == "after a while"


def test_checks_are_scored_one_after_another() -> None:
    """A scorer that runs commands in the workspace has it for itself."""
    steps: list[str] = []

    async def work(context: ScoreContext) -> Score:
        steps.append(f"begin {context.check.id}")
        await asyncio.sleep(0)
        steps.append(f"end {context.check.id}")
        return Score.passed()

    grade_with({"first": work, "second": work})
    assert steps == ["begin first", "end first", "begin second", "end second"]


def test_an_ungraded_check_makes_the_trial_an_error() -> None:
    """The checks that did answer prove only a part; their scores are kept for people."""
    graded = grade_with({"first": passes, "second": unclear})
    assert (graded.verdict, graded.value) == (Verdict.ERROR, None)
    assert [score.status for score in graded.scores] == [ScoreStatus.PASSED, ScoreStatus.UNGRADED]


def test_an_ungraded_check_outweighs_a_failed_one() -> None:
    """An incomplete grading is no fail, whatever the weights and the rule."""
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0)
    checks = (Check(id="first", scorer="s"), Check(id="second", scorer="s", weight=0))
    graded = grade_with({"first": fails, "second": unclear}, trial(case=Case(id="c", checks=checks, rule=rule)))
    assert graded.verdict is Verdict.ERROR


BESIDE = Check(id="beside", scorer="s", beside=True)


@pytest.mark.parametrize("beside", [passes, fails, unclear])
def test_a_check_beside_the_verdict_changes_none(beside: Decide) -> None:
    """D-1: whatever it says, verdict and value are those of the other checks, and its score says where it stands."""
    checks = (Check(id="first", scorer="s"), BESIDE)
    graded = grade_with({"first": passes, "beside": beside}, trial(case=Case(id="c", checks=checks)))
    assert (graded.verdict, graded.value) == (Verdict.PASS, 1.0)
    assert [score.beside for score in graded.scores] == [False, True]


def test_checks_beside_the_verdict_alone_assert_nothing() -> None:
    """D-1: a case without any other check could never fail."""
    assert grade_with({"beside": passes}, trial(case=Case(id="c", checks=(BESIDE,)))).verdict is Verdict.ERROR


def test_the_share_of_checks_that_passed() -> None:
    """D-3: under the rule `each`, partial credit counts for nothing, and all have to pass as under `all`."""
    rule = VerdictRule(mode=VerdictMode.EACH)
    case = Case(id="c", checks=(Check(id="first", scorer="s"), Check(id="second", scorer="s")), rule=rule)
    graded = grade_with({"first": passes, "second": fails}, trial(case=case))
    assert (graded.verdict, graded.value) == (Verdict.FAIL, 0.5)
    assert grade_with({"first": passes, "second": passes}, trial(case=case)).verdict is Verdict.PASS


def test_a_required_check_decides_whatever_the_rule() -> None:
    """A mean that is reached is no pass if what is required does not hold."""
    checks = (Check(id="a", scorer="a", weight=9.0), Check(id="b", scorer="b", required=True))
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)
    one = trial(case=Case(id="c", checks=checks, rule=rule))
    assert grade_with({"a": passes, "b": fails}, one).verdict is Verdict.FAIL
    assert grade_with({"a": passes, "b": passes}, one).verdict is Verdict.PASS
    assert grade_with({"a": passes, "b": unclear}, one).verdict is Verdict.ERROR


def test_checks_of_one_trial_share_what_they_find_out() -> None:
    """What a scorer keeps at one check is there at the next one of the same trial, and at none of another."""

    def count(context: ScoreContext) -> Score:
        context.shared["n"] = context.shared.get("n", 0) + 1
        return Score.passed(str(context.shared["n"]))

    for _ in range(2):
        graded = grade_with({"first": count, "second": count})
        assert [score.reason for score in graded.scores] == ["1", "2"]


def test_the_grading_of_a_trial_ends() -> None:
    """Checks that are not through when the time for all of them is over are ungraded; what others found stays."""

    async def hangs(_context: ScoreContext) -> Score:
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")

    found = grade_with({"first": passes, "second": hangs}, limit_s=0.0)  # seen at the first check that has to wait
    assert [score.status for score in found.scores] == [ScoreStatus.PASSED, ScoreStatus.UNGRADED]
    assert found.scores[1].reason == "timeout: the time for grading one trial is over"
    assert (found.verdict, found.value) == (Verdict.ERROR, None)


def test_a_time_out_inside_of_a_scorer_is_its_own() -> None:
    """It is not taken for the end of the time for grading."""

    def gives_up(_context: ScoreContext) -> Score:
        raise TimeoutError("no answer")

    found = grade_with({"first": passes, "second": gives_up})
    assert "failed in score: TimeoutError: no answer" in found.scores[1].reason


def test_a_scorer_that_crashes_leaves_its_check_ungraded() -> None:
    """The exception's type and text are told, the other checks are graded, nothing is raised."""

    def crash(context: ScoreContext) -> Score:
        raise ZeroDivisionError("by nothing")

    graded = grade_with({"first": crash, "second": passes})
    assert graded.verdict is Verdict.ERROR
    first, second = graded.scores
    assert first.status is ScoreStatus.UNGRADED
    told = "scorer 'own name of alias-of-exact' of acme 1 failed in score: ZeroDivisionError: by nothing"
    assert first.reason.splitlines()[0] == f"error[plugin.broken]: {told}"
    assert (first.check_id, first.scorer_version, first.value) == ("first", "1", None)
    assert second.status is ScoreStatus.PASSED


def test_a_scorer_that_crashes_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """With the plugin and the trace, for whoever wants to repair it."""

    def crash(context: ScoreContext) -> Score:
        raise ZeroDivisionError("by nothing")

    log.configure(verbose=True)
    try:
        grade_with({"first": crash, "second": passes})
    finally:
        log.configure(verbose=False, quiet=True)
    event = json.loads(capsys.readouterr().err)
    assert (event["event"], event["method"]) == ("plugin.call.failed", "score")
    assert event["plugin"] == "own name of alias-of-exact"
    assert "ZeroDivisionError: by nothing" in event["exception"]


def test_a_plugin_that_cannot_be_made_leaves_its_check_ungraded() -> None:
    """The reason is the plugin's problem; name and weight are those of the check."""
    graded = grade_with({"second": passes})
    assert graded.verdict is Verdict.ERROR
    first, second = graded.scores
    assert first.status is ScoreStatus.UNGRADED
    assert "alias-of-exact cannot be made" in first.reason
    assert (first.check_id, first.scorer, first.scorer_version, first.weight) == ("first", "alias-of-exact", "", 1.0)
    assert second.status is ScoreStatus.PASSED


@pytest.mark.parametrize("answer", [None, True, 1.0, {"status": "passed"}], ids=str)
def test_an_answer_that_is_no_score_leaves_its_check_ungraded(answer: Any) -> None:
    """A scorer that forgets to return a score has broken itself, not the trial."""

    async def forget(context: ScoreContext) -> Score:
        return answer  # type: ignore[no-any-return]  # the point

    graded = grade_with({"first": forget, "second": passes})
    assert [score.status for score in graded.scores] == [ScoreStatus.UNGRADED, ScoreStatus.PASSED]
    assert type(answer).__name__ in graded.scores[0].reason


def test_a_case_without_checks_is_an_error() -> None:
    """Nothing was asserted, so nothing is proved; that is no crash either."""
    graded = grade_with({}, trial(case=Case(id="c")))
    assert (graded.verdict, graded.value, graded.scores) == (Verdict.ERROR, None, ())


def test_a_cancelled_scorer_is_not_a_broken_one() -> None:
    """Stopping the run while a check is scored stops the grading."""

    async def cancelled() -> None:
        started = asyncio.Event()

        async def wait(context: ScoreContext) -> Score:
            started.set()
            await asyncio.Event().wait()
            raise AssertionError("never comes here")

        task = asyncio.create_task(
            grade(
                trial(),
                Execution(),
                Grading(FakeScorers(lambda check: BoundScorer("exact", FakeScorer(wait)))),
            )
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


# --- verdicts ---------------------------------------------------------------------------------------------


def score(value: float, weight: float = 1.0, status: ScoreStatus | None = None) -> Score:
    """A score; without a status it is passed exactly with full credit."""
    status = status or (ScoreStatus.PASSED if value == 1 else ScoreStatus.FAILED)
    return Score(status=status, value=value, weight=weight)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((1, 1), Verdict.PASS), ((1, 0.999), Verdict.FAIL), ((1, 0), Verdict.FAIL), ((0, 0), Verdict.FAIL)],
)
def test_by_default_every_check_must_pass(values: tuple[float, ...], verdict: Verdict) -> None:
    """Partial credit does not pass, however close; the value is the mean all the same."""
    assert verdict_of_scores([score(value) for value in values], VerdictRule()) == (verdict, sum(values) / 2)


def test_passing_is_the_scorers_word_not_the_value() -> None:
    """A check may pass with less than full credit and fail with all of it."""
    assert verdict_of_scores([score(0.8, status=ScoreStatus.PASSED)], VerdictRule()) == (Verdict.PASS, 0.8)
    assert verdict_of_scores([score(1, status=ScoreStatus.FAILED)], VerdictRule()) == (Verdict.FAIL, 1.0)


def test_a_check_of_no_weight_must_pass_too() -> None:
    """Without weight a check moves no value but still is an assertion."""
    assert verdict_of_scores([score(1), score(0, weight=0)], VerdictRule()) == (Verdict.FAIL, 1.0)


@pytest.mark.parametrize(
    ("threshold", "above", "verdict"),
    [
        (0.5, False, Verdict.PASS),
        (0.5, True, Verdict.FAIL),
        (0.49, True, Verdict.PASS),
        (0.51, False, Verdict.FAIL),
        (0.0, False, Verdict.PASS),
        (1.0, False, Verdict.FAIL),
    ],
)
def test_a_mean_reaches_or_exceeds_its_threshold(threshold: float, above: bool, verdict: Verdict) -> None:
    """The threshold itself passes, unless the rule says that it must be exceeded."""
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=threshold, above=above)
    assert verdict_of_scores([score(1), score(0)], rule) == (verdict, 0.5)


def test_nothing_exceeds_full_credit() -> None:
    """A rule that asks for more than everything cannot be met, one that asks for everything can."""
    full = [score(1), score(1)]
    assert verdict_of_scores(full, VerdictRule(mode=VerdictMode.MEAN, threshold=1, above=True))[0] is Verdict.FAIL
    assert verdict_of_scores(full, VerdictRule(mode=VerdictMode.MEAN))[0] is Verdict.PASS


@pytest.mark.parametrize(
    ("weights", "mean"),
    [((1, 1), 0.5), ((3, 1), 0.75), ((0, 1), 0.0), ((1, 0), 1.0), ((0, 0), 0.5), ((0.1, 0.3), 0.25)],
)
def test_the_mean_is_weighted(weights: tuple[float, float], mean: float) -> None:
    """Each value counts by its weight; if none has any, all count alike."""
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)
    verdict, value = verdict_of_scores([score(1, weights[0]), score(0, weights[1])], rule)
    assert value == pytest.approx(mean)
    assert verdict is (Verdict.PASS if mean >= 0.5 else Verdict.FAIL)


def test_a_mean_passes_whatever_the_single_checks_say() -> None:
    """With a mean, one failed check may be made up for by the others."""
    rule = VerdictRule(mode=VerdictMode.MEAN, threshold=0.6)
    assert verdict_of_scores([score(1), score(1), score(0)], rule)[0] is Verdict.PASS


@pytest.mark.parametrize("mode", VerdictMode)
def test_no_scores_make_an_error(mode: VerdictMode) -> None:
    """The mean of nothing is not 0 and all of nothing is not passed."""
    assert verdict_of_scores([], VerdictRule(mode=mode, threshold=0)) == (Verdict.ERROR, None)


weighted_scores = st.lists(
    st.builds(
        score,
        st.floats(0, 1),
        st.floats(0, 1e6),
        st.sampled_from(ScoreStatus),
    ),
    max_size=5,
)
rules = st.builds(VerdictRule, mode=st.sampled_from(VerdictMode), threshold=st.floats(0, 1), above=st.booleans())


@quick
@given(weighted_scores, rules)
def test_verdict_and_value_follow_from_the_rule(scores: list[Score], rule: VerdictRule) -> None:
    """An error exactly without scores or with an ungraded one; else the rule decides on a mean within the values."""
    verdict, value = verdict_of_scores(scores, rule)
    if not scores or any(one.status is ScoreStatus.UNGRADED for one in scores):
        assert (verdict, value) == (Verdict.ERROR, None)
        return
    counted = [one for one in scores if one.weight > 0] or scores
    each = rule.mode is VerdictMode.EACH
    values = [float(one.status is ScoreStatus.PASSED) if each else one.value or 0.0 for one in counted]
    assert value is not None
    assert 0 <= value <= 1
    assert min(values) - 1e-9 <= value <= max(values) + 1e-9
    if rule.mode in (VerdictMode.ALL, VerdictMode.EACH):
        passed = all(one.status is ScoreStatus.PASSED for one in scores)
    else:
        passed = value > rule.threshold if rule.above else value >= rule.threshold
    assert verdict is (Verdict.PASS if passed else Verdict.FAIL)


def test_the_smallest_weight_is_a_weight() -> None:
    """A product with it would be nothing, and a quotient by it more than any number."""
    assert verdict_of_scores([score(0.5, 5e-324)], VerdictRule())[1] == 0.5
    assert verdict_of_scores([score(0.5, 5e-324), score(0.25, 1e300)], VerdictRule())[1] == 0.25


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(1e-3, 1e3))
def test_equal_weights_change_nothing(values: list[float], weight: float) -> None:
    """Only the proportion of the weights counts."""
    plain = verdict_of_scores([score(value) for value in values], VerdictRule())
    heavy = verdict_of_scores([score(value, weight) for value in values], VerdictRule())
    assert heavy[0] is plain[0]
    assert heavy[1] == pytest.approx(plain[1])


# --- score ids --------------------------------------------------------------------------------------------


def score_id(
    case: Case | None = None,
    *,
    execution_id: str = "x",
    version: str = "1",
    judge_digest: str = "",
    answer: Decide = passes,
    broken: bool = False,
) -> str:
    """The score id of a trial whose second scorer has a version."""
    second = FakeScorer(answer)
    second.version = version
    scorers: dict[str, Decide | FakeScorer] = {"first": passes}
    if not broken:
        scorers["second"] = second
    return grade_with(scorers, trial(case=case, execution_id=execution_id), judge_digest=judge_digest).score_id


OTHER_SCORES = {
    "execution": score_id(execution_id="y"),
    "scorer version": score_id(version="2"),
    "judge": score_id(judge_digest="j"),
    "other judge": score_id(judge_digest="k"),
    "option": score_id(
        Case(id="c", checks=(CHECKS[0], Check(id="second", scorer="regex", weight=3, options={"a": 1})))
    ),
    "weight": score_id(Case(id="c", checks=(CHECKS[0], Check(id="second", scorer="regex", weight=2)))),
    "rule": score_id(Case(id="c", checks=CHECKS, rule=VerdictRule(mode=VerdictMode.MEAN))),
    "files of graders": score_id(Case(id="c", checks=CHECKS, grader_files=(FileSpec(path="a", text=""),))),
    "broken plugin": score_id(broken=True),
}


@pytest.mark.parametrize("other", OTHER_SCORES.values(), ids=OTHER_SCORES)
def test_whatever_could_score_otherwise_has_another_score_id(other: str) -> None:
    """Execution, checks, versions of the scorers and the judge are all part of it."""
    assert other != score_id()


def test_no_two_ways_to_grade_share_a_score_id() -> None:
    """Each of the differences above makes an id of its own."""
    assert len(set(OTHER_SCORES.values())) == len(OTHER_SCORES)


def test_a_score_id_does_not_depend_on_the_scores() -> None:
    """Grading the same thing again has the same id, whatever it gives; so has a case under another name."""
    assert score_id(answer=fails) == score_id() == score_id(Case(id="other", name="n", checks=CHECKS, tags=("t",)))


STAGED = (
    Check(id="later", scorer="rubric", stage=1),
    Check(id="first", scorer="exact"),
    Check(id="second", scorer="regex"),
    Check(id="aside", scorer="trigger", beside=True),
)


@pytest.mark.parametrize(
    ("first", "asked", "verdict"),
    [
        (passes, ["first", "second", "aside", "later"], Verdict.PASS),
        (fails, ["first", "second", "aside"], Verdict.FAIL),
        (unclear, ["first", "second", "aside"], Verdict.ERROR),
    ],
)
def test_a_later_stage_is_asked_only_after_the_earlier_ones_passed(
    first: Decide, asked: list[str], verdict: Verdict
) -> None:
    """What costs money comes last and is not paid for in vain; a check beside the verdict holds nobody back."""
    seen: list[str] = []

    def noting(decide: Decide) -> Decide:
        def score(context: ScoreContext) -> Score | Awaitable[Score]:
            seen.append(context.check.id)
            return decide(context)

        return score

    scorers = {"first": noting(first), "second": noting(passes), "aside": noting(fails), "later": noting(passes)}
    graded = grade_with(scorers, trial(case=Case(id="c", checks=STAGED)))
    assert seen == asked
    assert [score.check_id for score in graded.scores] == asked
    assert graded.verdict is verdict


def test_a_score_id_does_not_depend_on_how_far_the_stages_came() -> None:
    """It says what is graded and by whom, not what came of it."""
    one = trial(case=Case(id="c", checks=STAGED[:2]))
    ids = {grade_with({"first": first, "later": passes}, one).score_id for first in (passes, fails, unclear)}
    assert len(ids) == 1


def test_a_check_of_a_turn_sees_that_turn() -> None:
    """It is graded on the turn's answer; one that the session did not come to fails."""
    answers = ("first", "second")
    execution = Execution(text="second", answers=answers)

    def decide(context: ScoreContext) -> Score:
        return Score.passed() if context.execution.text == "first" else Score.failed("another")

    checks = tuple(Check(id=str(turn), scorer="s", turn=turn) for turn in (0, 1, 2, None))
    case = Case(id="c", prompt="p", turns=("q",), checks=checks)
    scorers = FakeScorers(lambda check: BoundScorer(check.scorer, FakeScorer(decide)))
    graded = asyncio.run(grade(trial(case=case), execution, Grading(scorers)))
    assert [score.status for score in graded.scores] == ["passed", "failed", "failed", "failed"]
    assert graded.scores[2].reason == "The conversation did not come to turn 3"
