"""Running trials: how many at once, in which order, how often, how long, and what is left when it is stopped."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any

import pytest

from skillgauge import log
from skillgauge.contract.judges import Judge
from skillgauge.contract.providers import Provider
from skillgauge.contract.sandboxes import NoRoomError
from skillgauge.contract.scorers import ScoreContext, Scorer
from skillgauge.errors import Problem, StoreError
from skillgauge.plugins.guard import guarded
from skillgauge.plugins.kinds import SCORERS, Resolved
from skillgauge.run.grading import Grading
from skillgauge.run.scheduling.executor import LocalExecutor, run_all
from skillgauge.run.scorers import BoundScorer
from skillgauge.run.services import Services
from skillgauge.run.stage import OpenStage, Stage
from skillgauge.run.trials import BACKSTOP_S, RetryPolicy, TrialRunner
from skillgauge.types.arms import DIRECT, Arm, ArmKind
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score, ScoreStatus
from skillgauge.types.suite import Case, Check, LimitOutcome, Limits, Target
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, Identity, Trial
from skillgauge.types.usage import Usage
from skillgauge_testkit.fakes import FakeScorer, FakeScorers, FakeWorkspace

from .jumping import run

AGENT = Arm(name="with_skill", kind=ArmKind.AGENT)
DONE = Execution(text="done", duration_s=0.5)


def test_the_clock_of_these_tests_jumps() -> None:
    """An hour passes at once, and something that never ends is found out instead of waited for."""

    async def hour() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert run(hour()) == pytest.approx(3600)

    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run(forever())


# --- trials, stages, scorers ------------------------------------------------------------------------------


def trial(number: int = 0, *, arm: Arm = DIRECT, **fields: Any) -> Trial:
    """A trial with one check."""
    return Trial.model_validate(
        {
            "trial_id": f"t{number}",
            "execution_id": f"x{number}",
            "ordinal": number,
            "suite_id": "s",
            "case": Case(id=f"c{number}", checks=(Check(id="k", scorer="exact"),), tags=("a",), weight=2),
            "case_index": number,
            "target": Target(id="skill"),
            "arm": arm,
            "runner": Identity(name="runner"),
            "repeat": 1,
            "seed": 0,
            "limits": Limits(),
        }
        | fields
    )


async def stream(trials: Iterable[Trial]) -> AsyncIterator[Trial]:
    """Trials as the ledger hands them out."""
    for one in trials:
        yield one


def result_of(one: Trial) -> TrialResult:
    """A passed result."""
    return TrialResult(
        trial_id=one.trial_id,
        execution_id=one.execution_id,
        score_id="",
        ordinal=one.ordinal,
        suite_id=one.suite_id,
        case_id=one.case.id,
        case_index=one.case_index,
        target_id=None,
        arm=one.arm.name,
        runner=one.runner.name,
        model=None,
        repeat=1,
        verdict=Verdict.PASS,
        execution=DONE,
        started_at=0.0,
    )


Answer = Execution | BaseException | Callable[[Trial], Awaitable[Execution]]


class ScriptedStage:
    """A stage that gives one answer and remembers what happened on it, in order."""

    scores = ()

    def __init__(self, answer: Answer, steps: list[str], *, breaks: str = "") -> None:
        self.workspace = FakeWorkspace()
        self.steps = steps
        self._answer = answer
        self._breaks = breaks

    async def execute(self, one: Trial) -> Execution:
        """Give the answer."""
        self.steps.append("execute")
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer if isinstance(self._answer, Execution) else await self._answer(one)

    async def prepare_grading(self, one: Trial) -> Sequence[str]:
        """Put a file there that a scorer can see."""
        self.steps.append("prepare")
        if self._breaks == "prepare":
            raise OSError("disk full")
        self.workspace.files["expected"] = b"1"
        return ()


class Script:
    """Opens a stage per attempt, with the next answer of a list; the last one is repeated."""

    def __init__(self, *answers: Answer, breaks: str = "") -> None:
        self.steps: list[str] = []
        self.stages: list[ScriptedStage] = []
        self._answers = answers or (DONE,)
        self._breaks = breaks

    @asynccontextmanager
    async def __call__(self, one: Trial) -> AsyncIterator[Stage]:
        """The next stage."""
        self.steps.append("open")
        if self._breaks == "open":
            raise OSError("no workspace")
        answer = self._answers[min(len(self.stages), len(self._answers) - 1)]
        self.stages.append(ScriptedStage(answer, self.steps, breaks=self._breaks))
        try:
            yield self.stages[-1]
        finally:
            self.steps.append("close")
            if self._breaks == "close":
                raise OSError("cannot clean up")


def behind_guard(scorer: Any, name: str) -> Scorer:
    """A scorer as the registry of plugins hands it out."""
    plugin = Resolved("scorers", name, Provider(name, lambda: scorer, ""), "acme", "1", name)
    return guarded(SCORERS, scorer, plugin, lambda _problem: None, named=True)


def runner_of(
    open_stage: OpenStage,
    *,
    decide: Callable[[ScoreContext], Score] = lambda context: Score.passed(),
    retries: int | None = None,
    waits: list[float] | None = None,
    on_agent_limit: Mapping[str, LimitOutcome] | None = None,
    judge: Judge | None = None,
    **options: Any,
) -> TrialRunner:
    """A runner for both kinds of arms; waits between attempts are noted, not made."""

    async def sleep(seconds: float) -> None:
        (waits if waits is not None else []).append(seconds)

    grading = Grading(
        FakeScorers(lambda check: BoundScorer(check.scorer, behind_guard(FakeScorer(decide), check.scorer))),
        on_agent_limit or {},
        (judge,) if judge else (),
        judge_digest="j",
    )
    return TrialRunner(
        {ArmKind.DIRECT: open_stage, ArmKind.AGENT: open_stage},
        grading,
        retry=RetryPolicy(retries),
        sleep=sleep,
        **options,
    )


def failed(
    failure_class: FailureClass = FailureClass.NETWORK,
    *,
    blame: Blame = Blame.INFRASTRUCTURE,
    retryable: bool = True,
    retry_after_s: float | None = None,
) -> Execution:
    """An execution that did not come to its end."""
    return Execution(
        failure=Failure(
            failure_class=failure_class,
            blame=blame,
            message="m",
            retryable=retryable,
            retry_after_s=retry_after_s,
        )
    )


# --- one trial --------------------------------------------------------------------------------------------


def test_a_trial_is_graded_on_its_open_stage() -> None:
    """The graders' files are put in place after the execution and the scorers see them before the stage closes."""
    script = Script()

    def look(context: ScoreContext) -> Score:
        script.steps.append("score")
        assert isinstance(context.workspace, FakeWorkspace)
        return Score.passed() if context.workspace.files == {"expected": b"1"} else Score.failed("no files")

    result = run(runner_of(script, decide=look)(trial()))
    assert script.steps == ["open", "execute", "prepare", "score", "close"]
    assert result.verdict is Verdict.PASS


def test_a_result_says_what_ran_and_what_came_of_it() -> None:
    """Every fact of the trial, the execution and the grading is in the result."""
    one = trial(3, model="m", arm=AGENT)
    result = run(runner_of(Script(DONE), decide=lambda context: Score.failed("half", value=0.5))(one))
    assert result.execution == DONE
    assert (result.verdict, result.value, result.attempts) == (Verdict.FAIL, 0.5, 1)
    assert [(score.check_id, score.reason) for score in result.scores] == [("k", "half")]
    assert (result.trial_id, result.execution_id, result.ordinal) == ("t3", "x3", 3)
    assert (result.suite_id, result.case_id, result.case_index) == ("s", "c3", 3)
    assert (result.target_id, result.arm, result.runner, result.model) == ("skill", "with_skill", "runner", "m")
    assert (result.repeat, result.tags, result.weight) == (1, ("a",), 2.0)
    assert result.score_id
    assert result.started_at > 1_700_000_000


def test_a_case_that_is_skipped_opens_no_stage_and_says_why() -> None:
    """Nothing runs for it, nobody grades it, and the reason is in its result."""
    script = Script()
    one = trial(case=Case(id="c", skip="no engine fires hooks"))
    result = run(runner_of(script)(one))
    assert script.steps == []
    assert (result.verdict, result.value, result.scores) == (Verdict.SKIPPED, None, ())
    assert result.execution.notes == ("no engine fires hooks",)


def test_a_trial_without_target_has_none_in_its_result() -> None:
    """An agent may be tested for itself."""
    assert run(runner_of(Script())(trial(target=None))).target_id is None


def test_the_start_is_told_before_the_first_attempt_and_once() -> None:
    """Whoever listens learns of a trial, not of its attempts."""
    script = Script(failed(), DONE)
    run(runner_of(script, retries=1, on_start=lambda one: script.steps.append(f"started {one.trial_id}"))(trial()))
    assert script.steps[0] == "started t0"
    assert script.steps.count("started t0") == 1


def test_a_result_is_cleaned_before_anybody_sees_it() -> None:
    """What takes secrets out has the last word."""

    def clean(result: TrialResult) -> TrialResult:
        return result.model_copy(update={"execution": Execution(text="***")})

    assert run(runner_of(Script(), clean=clean)(trial())).execution.text == "***"


def test_scorers_get_the_judge_of_the_run() -> None:
    """Model access for graders comes with the grading."""
    seen: list[object] = []
    judge: Any = object()

    def look(context: ScoreContext) -> Score:
        seen.append(context.judge)
        return Score.passed()

    run(runner_of(Script(), decide=look, judge=judge)(trial()))
    assert seen == [judge]


def test_a_failed_execution_is_not_prepared_for_grading() -> None:
    """Nothing is put into a workspace that nobody will look at, and no scorer runs."""
    script = Script(failed(blame=Blame.TARGET, retryable=False))

    def refuse(context: ScoreContext) -> Score:
        raise AssertionError("not graded")

    result = run(runner_of(script, decide=refuse)(trial()))
    assert script.steps == ["open", "execute", "close"]
    assert (result.verdict, result.value, result.scores) == (Verdict.FAIL, 0.0, ())


@pytest.mark.parametrize(
    ("meanings", "verdict"),
    [({}, Verdict.FAIL), ({"s": LimitOutcome.ERROR}, Verdict.ERROR), ({"other": LimitOutcome.ERROR}, Verdict.FAIL)],
    ids=["default", "this suite", "other suite"],
)
def test_the_suite_says_what_an_agents_limit_means(meanings: dict[str, LimitOutcome], verdict: Verdict) -> None:
    """Each suite's own answer counts; without one it is a fail."""
    script = Script(failed(FailureClass.MAX_TURNS, blame=Blame.AGENT_LIMIT, retryable=False))
    assert run(runner_of(script, on_agent_limit=meanings)(trial(arm=AGENT))).verdict is verdict


@pytest.mark.parametrize("passes", [True, False])
def test_a_suite_may_grade_what_an_agent_left_at_its_limit(passes: bool) -> None:
    """Its checks decide, in a workspace with the graders' files; the failure stays in the record."""
    script = Script(failed(FailureClass.MAX_TURNS, blame=Blame.AGENT_LIMIT, retryable=False))

    def decide(_context: ScoreContext) -> Score:
        return Score.passed() if passes else Score.failed("no")

    result = run(runner_of(script, decide=decide, on_agent_limit={"s": LimitOutcome.GRADED})(trial(arm=AGENT)))
    assert script.steps == ["open", "execute", "prepare", "close"]
    assert result.verdict is (Verdict.PASS if passes else Verdict.FAIL)
    assert result.execution.failure is not None


@pytest.mark.parametrize("blame", [Blame.TARGET, Blame.INFRASTRUCTURE])
def test_only_a_limit_is_graded(blame: Blame) -> None:
    """Any other failure says nothing about the skill, or all there is to say."""
    script = Script(failed(blame=blame, retryable=False))
    result = run(runner_of(script, on_agent_limit={"s": LimitOutcome.GRADED})(trial(arm=AGENT)))
    assert (script.steps, result.scores) == (["open", "execute", "close"], ())


# --- what breaks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (Script(breaks="open"), "runner: OSError: no workspace"),
        (Script(ZeroDivisionError("by nothing")), "runner: ZeroDivisionError: by nothing"),
        (Script(breaks="prepare"), "runner: OSError: disk full"),
        (Script(breaks="close"), "runner: OSError: cannot clean up"),
    ],
    ids=["open", "execute", "prepare", "close"],
)
def test_an_exception_on_a_stage_is_an_error_of_that_trial(script: Script, text: str) -> None:
    """Whatever breaks is infrastructure's: an error, counted, with type and text, and not tried again."""
    waits: list[float] = []
    result = run(runner_of(script, retries=5, waits=waits)(trial()))
    assert result.verdict is Verdict.ERROR
    assert result.value is None
    failure = result.execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.message) == (
        FailureClass.INTERNAL,
        Blame.INFRASTRUCTURE,
        text,
    )
    assert (result.attempts, waits) == (1, [])


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NoRoomError("the disk of '/tmp' is full"), "the disk of '/tmp' is full"),
        (OSError(errno.ENOSPC, "No space left on device"), "runner: OSError: [Errno 28] No space left on device"),
        (OSError(errno.EDQUOT, "Quota exceeded"), f"runner: OSError: [Errno {errno.EDQUOT}] Quota exceeded"),
    ],
)
def test_a_full_disk_is_an_error_of_the_set_up(error: OSError, text: str) -> None:
    """Wherever it shows: when a workspace is opened, when files are put there, or when it is looked at."""
    result = run(runner_of(Script(error))(trial()))
    failure = result.execution.failure
    assert (result.verdict, failure and failure.failure_class) == (Verdict.ERROR, FailureClass.SETUP)
    assert failure
    assert (failure.blame, failure.message) == (Blame.INFRASTRUCTURE, text)


def test_an_arm_that_nobody_can_run_is_an_error_of_its_trials() -> None:
    """A kind of arm without stages does not stop the run."""
    runner = TrialRunner(
        {},
        Grading(FakeScorers(lambda check: BoundScorer("s", FakeScorer(lambda _: Score.passed())))),
        retry=RetryPolicy(),
    )
    result = run(runner(trial()))
    assert result.execution.failure is not None
    assert result.execution.failure.failure_class is FailureClass.INTERNAL


@pytest.mark.parametrize("limits", [Limits(), Limits(timeout_s=30)], ids=["no limit", "limit"])
def test_a_time_out_inside_a_plugin_is_not_the_trials(limits: Limits) -> None:
    """A socket that timed out somewhere is an exception like any other: it did not use up the trial's time."""
    result = run(runner_of(Script(TimeoutError("connect timed out")))(trial(limits=limits)))
    failure = result.execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.INTERNAL, Blame.INFRASTRUCTURE)
    assert failure.message == "runner: TimeoutError: connect timed out"


def test_one_broken_trial_leaves_the_others_alone() -> None:
    """An exception in one trial reaches no other trial, also not one that runs at the same time."""

    async def answer(one: Trial) -> Execution:
        await asyncio.sleep(1)
        if one.ordinal == 2:
            raise ValueError("only this one")
        return DONE

    async def collect() -> list[TrialResult]:
        runner = runner_of(Script(answer))
        return [one async for one in LocalExecutor(3).run(stream(map(trial, range(6))), runner)]

    results = run(collect())
    assert {one.trial_id for one in results if one.verdict is Verdict.ERROR} == {"t2"}
    assert len([one for one in results if one.verdict is Verdict.PASS]) == 5


@pytest.mark.parametrize("place", ["stage", "scorer"])
def test_a_cancelled_task_inside_a_plugin_cancels_nothing_else(place: str) -> None:
    """A plugin that awaits a task of its own that was cancelled is broken; nobody has asked the run to stop."""

    async def await_a_cancelled_task() -> None:
        task = asyncio.ensure_future(asyncio.sleep(1000))
        task.cancel()
        await task

    async def answer(one: Trial) -> Execution:
        if one.ordinal == 1 and place == "stage":
            await await_a_cancelled_task()
        return DONE

    async def decide(context: ScoreContext) -> Score:
        if context.case.id == "c1" and place == "scorer":
            await await_a_cancelled_task()
        return Score.passed()

    async def go() -> list[TrialResult]:
        runner = TrialRunner(
            {ArmKind.DIRECT: Script(answer)},
            Grading(FakeScorers(lambda check: BoundScorer("s", FakeScorer(decide)))),
            retry=RetryPolicy(),
        )
        recorder = Recorder()
        assert await run_all(LocalExecutor(1).run(stream(map(trial, range(3))), runner), recorder, asyncio.Event())
        return recorder.results

    assert [result.verdict for result in run(go())] == [Verdict.PASS, Verdict.ERROR, Verdict.PASS]


def test_what_a_runner_does_when_cancelled_is_not_an_error() -> None:
    """Cancelling gets through, and the stage is closed on the way."""
    script = Script()

    async def answer(one: Trial) -> Execution:
        await asyncio.Event().wait()
        return DONE

    script = Script(answer)

    async def cancel() -> None:
        task = asyncio.ensure_future(runner_of(script)(trial()))
        await asyncio.sleep(1)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(cancel())
    assert script.steps == ["open", "execute", "close"]


# --- retries ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("retries", "answers", "attempts", "verdict"),
    [
        (0, [failed()], 1, Verdict.ERROR),
        (2, [failed()], 3, Verdict.ERROR),
        (2, [failed(), DONE], 2, Verdict.PASS),
        (2, [failed(), failed(), DONE], 3, Verdict.PASS),
        (2, [failed(retryable=False)], 1, Verdict.ERROR),
        (2, [failed(), failed(retryable=False)], 2, Verdict.ERROR),
        (2, [failed(blame=Blame.TARGET)], 3, Verdict.FAIL),
        (2, [DONE], 1, Verdict.PASS),
    ],
)
def test_only_failures_that_say_so_are_retried(
    retries: int, answers: list[Execution], attempts: int, verdict: Verdict
) -> None:
    """Attempts are made until one succeeds, says that another cannot help, or none is left; each is counted."""
    script = Script(*answers)
    result = run(runner_of(script, retries=retries)(trial()))
    assert (result.attempts, len(script.stages)) == (attempts, attempts)
    assert result.verdict is verdict


def test_a_failed_check_is_never_retried() -> None:
    """A retry is for an error: running a failed grade again until it passes would be cheating."""
    script = Script()
    result = run(runner_of(script, retries=3, decide=lambda context: Score.failed("no"))(trial()))
    assert (result.verdict, result.attempts) == (Verdict.FAIL, 1)


def test_every_attempt_has_a_stage_of_its_own() -> None:
    """What the first attempt left behind is gone before the next one begins, and the wait is between them."""
    script = Script(failed(), DONE)
    waits: list[float] = []
    run(runner_of(script, retries=1, waits=waits)(trial()))
    assert script.steps == ["open", "execute", "close", "open", "execute", "prepare", "close"]
    assert len({id(stage) for stage in script.stages}) == 2
    assert waits == [1.0]


def test_the_wait_grows_linearly() -> None:
    """After the k-th attempt it is k times the base."""
    waits: list[float] = []
    run(runner_of(Script(failed()), retries=4, waits=waits)(trial()))
    assert waits == [1.0, 2.0, 3.0, 4.0]


def test_a_server_may_say_how_long_to_wait() -> None:
    """Its word goes before the own calculation, also when it asks for less."""
    waits: list[float] = []
    answers = [failed(retry_after_s=7.5), failed(retry_after_s=0.0), failed(), DONE]
    assert run(runner_of(Script(*answers), retries=9, waits=waits)(trial())).attempts == 4
    assert waits == [7.5, 0.0, 3.0]


@pytest.mark.parametrize(("asked", "attempts"), [(60.0, 2), (60.1, 1)])
def test_a_server_that_asks_for_too_much_is_not_retried(asked: float, attempts: int) -> None:
    """A run does not stand still for longer than its longest wait; that wait itself is still made."""
    assert run(runner_of(Script(failed(retry_after_s=asked)), retries=1)(trial())).attempts == attempts


@pytest.mark.parametrize(
    ("policy", "attempt", "delay"),
    [
        (RetryPolicy(), 1, None),
        (RetryPolicy(3), 1, 1.0),
        (RetryPolicy(3), 3, 3.0),
        (RetryPolicy(3), 4, None),
        (RetryPolicy(3, base_s=0.5), 3, 1.5),
        (RetryPolicy(3, base_s=0), 3, 0.0),
    ],
)
def test_a_policy_answers_with_a_wait_or_with_none(policy: RetryPolicy, attempt: int, delay: float | None) -> None:
    """The number of retries is the number of further attempts."""
    failure = failed().failure
    assert failure is not None
    assert policy.delay_s(failure, attempt) == delay


@pytest.mark.parametrize(("retries", "attempts"), [(None, 3), (0, 1), (1, 2), (4, 5)])
def test_sessions_are_made_again_as_often_as_the_user_says(retries: int | None, attempts: int) -> None:
    """E-D1: they are paid for, so that none is made again where he says 0; twice where he says nothing."""
    result = run(runner_of(Script(failed(FailureClass.SERVER)), retries=retries)(trial(arm=AGENT)))
    assert result.attempts == attempts


def test_the_own_wait_has_an_upper_bound() -> None:
    """With many retries the wait stops growing; the attempts that were asked for are made all the same."""
    waits: list[float] = []
    assert run(runner_of(Script(failed()), retries=62, waits=waits)(trial())).attempts == 63
    assert waits[-3:] == [60.0, 60.0, 60.0]


def test_attempts_are_really_waited_for() -> None:
    """Without another way to wait, the event loop's time passes between attempts."""

    async def elapsed() -> float:
        grading = Grading(FakeScorers(lambda check: BoundScorer("s", FakeScorer(lambda _: Score.passed()))))
        runner = TrialRunner({ArmKind.DIRECT: Script(failed())}, grading, retry=RetryPolicy(2))
        await runner(trial())
        return asyncio.get_running_loop().time()

    assert run(elapsed()) == pytest.approx(3.0)


# --- time limits ------------------------------------------------------------------------------------------


def sleeper(seconds: float) -> Callable[[Trial], Awaitable[Execution]]:
    """An answer that takes its time."""

    async def answer(one: Trial) -> Execution:
        await asyncio.sleep(seconds)
        return DONE

    return answer


@pytest.mark.parametrize(
    ("arm", "blame", "attempts", "verdict"),
    [(DIRECT, Blame.TARGET, 2, Verdict.FAIL), (AGENT, Blame.INFRASTRUCTURE, 1, Verdict.ERROR)],
    ids=["direct", "agent"],
)
def test_a_stage_that_ignores_its_limit_is_cut_off(arm: Arm, blame: Blame, attempts: int, verdict: Verdict) -> None:
    """The kernel stops what an adapter or engine did not; of a lost agent nobody can tell what it did (E-A3)."""
    script = Script(sleeper(10_000))
    runner = runner_of(script, retries=1)
    result = run(runner(trial(arm=arm, limits=Limits(timeout_s=1.5))))
    failure = result.execution.failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.message) == (
        FailureClass.TIMEOUT,
        blame,
        "no answer within 1.5 s",
    )
    assert result.execution.duration_s is not None
    assert 0 <= result.execution.duration_s < 600  # seconds that really passed; the loop's own time has jumped
    assert (result.attempts, result.verdict) == (attempts, verdict)
    assert script.steps[-1] == "close"


def test_a_stage_is_cut_off_a_little_after_its_limit() -> None:
    """Late enough for the adapter's own report, early enough for nobody to wait for long."""

    async def elapsed() -> float:
        await runner_of(Script(sleeper(10_000)))(trial(limits=Limits(timeout_s=1.5)))
        return asyncio.get_running_loop().time()

    assert run(elapsed()) == pytest.approx(1.5 + BACKSTOP_S)
    assert 2 <= BACKSTOP_S <= 10


def test_a_stage_has_time_to_report_that_it_ran_out_of_time() -> None:
    """Adapters enforce the limit themselves, because they can tell more; the kernel waits a little longer."""
    own = failed(FailureClass.TIMEOUT, blame=Blame.TARGET, retryable=False)

    async def answer(one: Trial) -> Execution:
        await asyncio.sleep(2 + 1)
        return own

    assert run(runner_of(Script(answer))(trial(limits=Limits(timeout_s=2)))).execution == own


def test_without_a_limit_nothing_is_cut_off() -> None:
    """An agent may work for hours if nobody says otherwise."""
    assert run(runner_of(Script(sleeper(20_000)))(trial(arm=AGENT))).verdict is Verdict.PASS


# --- many trials ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 2, 7])
def test_as_many_trials_run_at_once_as_allowed(concurrency: int) -> None:
    """The bound is reached and never exceeded, and every trial runs once."""
    active = most = 0
    ran: list[str] = []

    async def run_trial(one: Trial) -> TrialResult:
        nonlocal active, most
        active += 1
        most = max(most, active)
        await asyncio.sleep(1 + one.ordinal % 3)
        active -= 1
        ran.append(one.trial_id)
        return result_of(one)

    async def collect() -> list[TrialResult]:
        return [one async for one in LocalExecutor(concurrency).run(stream(map(trial, range(20))), run_trial)]

    results = run(collect())
    assert most == concurrency
    assert sorted(ran) == sorted(one.trial_id for one in results) == sorted(f"t{number}" for number in range(20))


def test_concurrency_pays() -> None:
    """Trials that wait do so together: four at a time take a quarter of the time."""

    async def run_trial(one: Trial) -> TrialResult:
        await asyncio.sleep(10)
        return result_of(one)

    async def elapsed() -> float:
        async for _ in LocalExecutor(4).run(stream(map(trial, range(20))), run_trial):
            pass
        return asyncio.get_running_loop().time()

    assert run(elapsed()) == pytest.approx(50)


def test_a_concurrency_of_one_runs_in_plan_order() -> None:
    """Each trial ends before the next one starts, in the order of the plan."""
    steps: list[str] = []

    async def run_trial(one: Trial) -> TrialResult:
        steps.append(f"begin {one.ordinal}")
        await asyncio.sleep(5 - one.ordinal)
        steps.append(f"end {one.ordinal}")
        return result_of(one)

    async def collect() -> list[int]:
        return [one.ordinal async for one in LocalExecutor(1).run(stream(map(trial, range(5))), run_trial)]

    assert run(collect()) == [0, 1, 2, 3, 4]
    assert steps == [f"{step} {number}" for number in range(5) for step in ("begin", "end")]


def test_trials_start_in_plan_order_and_results_come_as_they_finish() -> None:
    """A slow trial does not hold back those that started after it."""
    started: list[int] = []

    async def run_trial(one: Trial) -> TrialResult:
        started.append(one.ordinal)
        await asyncio.sleep(10 if one.ordinal == 0 else 1)
        return result_of(one)

    async def collect() -> list[int]:
        return [one.ordinal async for one in LocalExecutor(2).run(stream(map(trial, range(4))), run_trial)]

    assert run(collect()) == [1, 2, 3, 0]
    assert started == [0, 1, 2, 3]


def test_a_source_that_has_to_wait_is_read_by_one_worker_at_a_time() -> None:
    """The source may claim trials in a store between two of them; workers then wait for each other."""
    reading = False

    async def slow_source() -> AsyncIterator[Trial]:
        nonlocal reading
        for number in range(9):
            assert not reading
            reading = True
            await asyncio.sleep(1)
            reading = False
            yield trial(number)

    async def run_trial(one: Trial) -> TrialResult:
        await asyncio.sleep(2.5)
        return result_of(one)

    async def collect() -> list[int]:
        return [one.ordinal async for one in LocalExecutor(3).run(slow_source(), run_trial)]

    assert sorted(run(collect())) == list(range(9))


def test_an_empty_source_gives_no_results() -> None:
    """More workers than trials is no problem, no trials at all neither."""

    async def run_trial(one: Trial) -> TrialResult:
        raise AssertionError("there is nothing to run")

    async def collect() -> list[TrialResult]:
        return [one async for one in LocalExecutor(4).run(stream([]), run_trial)]

    assert run(collect()) == []


def test_a_concurrency_of_nothing_is_refused() -> None:
    """With no worker a run would never end."""
    with pytest.raises(ValueError, match="at least 1"):
        LocalExecutor(0)


def test_a_slow_store_holds_the_trials_back() -> None:
    """Memory does not grow with the plan if results are taken more slowly than they come."""
    started = taken = most = 0

    async def run_trial(one: Trial) -> TrialResult:
        nonlocal started, most
        started += 1
        most = max(most, started - taken)
        return result_of(one)

    async def take() -> None:
        nonlocal taken
        async for _ in LocalExecutor(2).run(stream(map(trial, range(1200))), run_trial):
            taken += 1
            await asyncio.sleep(1)

    run(take())
    assert taken == 1200
    assert most < 400


# --- the end of a run -------------------------------------------------------------------------------------


class Recorder:
    """Keeps results, as a ledger does."""

    def __init__(self, *, wait: asyncio.Event | None = None) -> None:
        self.results: list[TrialResult] = []
        self._wait = wait

    async def __call__(self, result: TrialResult) -> None:
        """Keep one and wait until it is written."""
        self.results.append(result)
        if self._wait:
            await self._wait.wait()

    @property
    def ordinals(self) -> list[int]:
        """Of what was kept, in order."""
        return [result.ordinal for result in self.results]


def test_a_run_without_a_stop_is_complete() -> None:
    """Every result is recorded, in the order in which they came."""
    recorder = Recorder()

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def go() -> bool:
        return await run_all(LocalExecutor(1).run(stream(map(trial, range(5))), run_trial), recorder, asyncio.Event())

    assert run(go()) is True
    assert recorder.ordinals == [0, 1, 2, 3, 4]


def test_a_stop_cancels_what_is_under_way_and_keeps_what_is_done() -> None:
    """The run says that it is incomplete; finished trials are recorded, started ones cancelled, others never begun."""
    recorder = Recorder()
    started: list[int] = []
    cancelled: list[int] = []

    async def go() -> bool:
        stop = asyncio.Event()

        async def run_trial(one: Trial) -> TrialResult:
            started.append(one.ordinal)
            try:
                await asyncio.sleep(1 if one.ordinal < 3 else 1000)
            except asyncio.CancelledError:
                cancelled.append(one.ordinal)
                raise
            return result_of(one)

        asyncio.get_running_loop().call_later(50, stop.set)
        return await run_all(LocalExecutor(2).run(stream(map(trial, range(9))), run_trial), recorder, stop)

    assert run(go()) is False
    assert recorder.ordinals == [0, 1, 2]
    assert started == [0, 1, 2, 3, 4]
    assert sorted(cancelled) == [3, 4]


def test_a_stop_waits_until_everything_is_cleaned_up() -> None:
    """When the run returns, no process, session or workspace of a cancelled trial is left."""
    cleaned: list[int] = []

    async def go() -> None:
        stop = asyncio.Event()

        async def run_trial(one: Trial) -> TrialResult:
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(10)
                cleaned.append(one.ordinal)
            return result_of(one)

        asyncio.get_running_loop().call_later(1, stop.set)
        await run_all(LocalExecutor(3).run(stream(map(trial, range(9))), run_trial), Recorder(), stop)
        assert sorted(cleaned) == [0, 1, 2]
        assert len(asyncio.all_tasks()) == 2  # this one and the one that bounds it

    run(go())


def test_cancelling_the_run_waits_for_the_clean_up_too() -> None:
    """A caller that is itself cancelled does not leave trials behind."""
    cleaned: list[int] = []

    async def run_trial(one: Trial) -> TrialResult:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(10)
            cleaned.append(one.ordinal)
        return result_of(one)

    async def go() -> None:
        results = LocalExecutor(2).run(stream(map(trial, range(9))), run_trial)
        task = asyncio.ensure_future(run_all(results, Recorder(), asyncio.Event()))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(cleaned) == [0, 1]

    run(go())


def test_a_stop_before_the_start_runs_nothing_to_its_end() -> None:
    """Ctrl-C during planning leaves no result."""
    recorder = Recorder()

    async def run_trial(one: Trial) -> TrialResult:
        await asyncio.sleep(1)
        return result_of(one)

    async def go() -> bool:
        stop = asyncio.Event()
        stop.set()
        return await run_all(LocalExecutor(2).run(stream(map(trial, range(3))), run_trial), recorder, stop)

    assert run(go()) is False
    assert recorder.results == []


def test_a_stop_after_the_end_changes_nothing() -> None:
    """A run whose trials are all recorded is complete, even if a stop arrives with the last result."""
    recorder = Recorder()

    async def go() -> bool:
        stop = asyncio.Event()

        async def run_trial(one: Trial) -> TrialResult:
            return result_of(one)

        async def record(result: TrialResult) -> None:
            await recorder(result)
            if result.ordinal == 2:
                asyncio.get_running_loop().call_later(10, stop.set)

        return await run_all(LocalExecutor(1).run(stream(map(trial, range(3))), run_trial), record, stop)

    assert run(go()) is True


def test_a_stop_keeps_results_that_wait_for_the_store() -> None:
    """A trial that has finished is finished, even if the store was busy with another one when the stop came."""
    ran: list[int] = []

    async def go() -> list[int]:
        stop, store_is_free = asyncio.Event(), asyncio.Event()
        recorder = Recorder(wait=store_is_free)

        async def run_trial(one: Trial) -> TrialResult:
            if one.ordinal >= 3:
                await asyncio.sleep(1000)
            ran.append(one.ordinal)
            return result_of(one)

        loop = asyncio.get_running_loop()
        loop.call_later(5, stop.set)
        loop.call_later(6, store_is_free.set)
        await run_all(LocalExecutor(1).run(stream(map(trial, range(9))), run_trial), recorder, stop)
        return recorder.ordinals

    assert run(go()) == ran == [0, 1, 2]


def test_a_stop_ends_a_run_whose_store_is_behind() -> None:
    """However many results wait, a run that is stopped ends: no worker waits for room that nobody makes."""

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def go() -> bool:
        stop, store_is_free = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.call_later(1, stop.set)
        loop.call_later(2, store_is_free.set)
        results = LocalExecutor(2).run(stream(map(trial, count())), run_trial)
        return await asyncio.wait_for(run_all(results, Recorder(wait=store_is_free), stop), 3600)

    assert run(go()) is False


class DefectError(Exception):
    """Something that is nobody's trial."""


def test_an_error_of_the_executor_ends_the_run() -> None:
    """An exception that is not a trial's cancels the others, waits for them and is raised."""
    cancelled: list[int] = []

    async def run_trial(one: Trial) -> TrialResult:
        if one.ordinal == 1:
            await asyncio.sleep(1)
            raise DefectError("in the kernel")
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.append(one.ordinal)
            raise
        return result_of(one)

    async def go() -> None:
        results = LocalExecutor(3).run(stream(map(trial, range(9))), run_trial)
        with pytest.raises(DefectError, match="in the kernel"):
            await run_all(results, Recorder(), asyncio.Event())
        assert sorted(cancelled) == [0, 2]

    run(go())


def test_results_before_an_error_are_kept() -> None:
    """What finished before the executor broke is recorded."""
    recorder = Recorder()

    async def run_trial(one: Trial) -> TrialResult:
        if one.ordinal == 3:
            raise DefectError
        return result_of(one)

    async def go() -> None:
        with pytest.raises(DefectError):
            await run_all(LocalExecutor(1).run(stream(map(trial, range(9))), run_trial), recorder, asyncio.Event())

    run(go())
    assert recorder.ordinals == [0, 1, 2]


def test_an_error_of_the_source_ends_the_run() -> None:
    """A store that cannot claim trials stops the run with its own exception."""

    async def broken_source() -> AsyncIterator[Trial]:
        yield trial(0)
        raise StoreError(Problem("store.locked", "cannot claim"))

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def go() -> None:
        await run_all(LocalExecutor(2).run(broken_source(), run_trial), Recorder(), asyncio.Event())

    with pytest.raises(StoreError, match="cannot claim"):
        run(go())


def test_an_error_of_the_store_ends_the_run() -> None:
    """If a result cannot be kept, nothing further is run, and what is under way is cancelled."""
    started: list[int] = []

    async def run_trial(one: Trial) -> TrialResult:
        started.append(one.ordinal)
        await asyncio.sleep(1 if one.ordinal == 0 else 1000)
        return result_of(one)

    async def record(result: TrialResult) -> None:
        raise StoreError(Problem("store.full", "no space"))

    async def go() -> None:
        with pytest.raises(StoreError, match="no space"):
            await run_all(LocalExecutor(2).run(stream(map(trial, range(99))), run_trial), record, asyncio.Event())
        assert len(asyncio.all_tasks()) == 2

    run(go())
    assert started in ([0, 1], [0, 1, 2])


def test_an_error_gets_out_although_the_store_is_slow() -> None:
    """With every place for results taken, an exception still ends the run once the store moves on."""

    async def run_trial(one: Trial) -> TrialResult:
        if one.ordinal == 500:
            raise DefectError
        return result_of(one)

    async def record(result: TrialResult) -> None:
        await asyncio.sleep(1)

    async def go() -> None:
        await run_all(LocalExecutor(1).run(stream(map(trial, count())), run_trial), record, asyncio.Event())

    with pytest.raises(DefectError):
        run(go())


def test_a_store_that_fails_late_ends_the_run() -> None:
    """However many results wait by then: the error gets out, and no worker waits for room that nobody makes."""

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def record(result: TrialResult) -> None:
        await asyncio.sleep(1000)
        raise StoreError(Problem("store.full", "no space"))

    async def go() -> None:
        results = LocalExecutor(2).run(stream(map(trial, count())), run_trial)
        await asyncio.wait_for(run_all(results, record, asyncio.Event()), 3600)

    with pytest.raises(StoreError, match="no space"):
        run(go())


def test_cancelling_a_run_whose_store_is_behind_ends_it() -> None:
    """The same if the caller is cancelled while the store has fallen behind."""

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def go() -> bool:
        results = LocalExecutor(2).run(stream(map(trial, count())), run_trial)
        task = asyncio.ensure_future(run_all(results, Recorder(wait=asyncio.Event()), asyncio.Event()))
        await asyncio.sleep(1000)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=1000)
        return task in done

    assert run(go()) is True


def test_a_stop_that_cuts_nothing_short_leaves_a_complete_run() -> None:
    """If every trial had ended when the stop came, the run is complete, although its last result was being written."""
    recorder = Recorder()

    async def run_trial(one: Trial) -> TrialResult:
        return result_of(one)

    async def go() -> bool:
        stop = asyncio.Event()

        async def record(result: TrialResult) -> None:
            await recorder(result)
            if result.ordinal == 2:
                await asyncio.sleep(1)
                stop.set()
                await asyncio.sleep(1)

        return await run_all(LocalExecutor(1).run(stream(map(trial, range(3))), run_trial), record, stop)

    assert run(go()) is True
    assert recorder.ordinals == [0, 1, 2]


def test_a_trial_that_was_cut_off_leaves_no_result() -> None:
    """Not even if its stage then fails to clean up: a result would keep it from being run when the run is resumed."""

    async def forever(one: Trial) -> Execution:
        await asyncio.Event().wait()
        return DONE

    recorder = Recorder()

    async def go() -> bool:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(1, stop.set)
        runner = runner_of(Script(forever, breaks="close"))
        return await run_all(LocalExecutor(2).run(stream(map(trial, range(5))), runner), recorder, stop)

    assert run(go()) is False
    assert recorder.results == []


def test_a_broken_scorer_is_reported_with_the_trial() -> None:
    """The whole way from a scorer's exception to the result: an error with the reason in the score."""

    def crash(context: ScoreContext) -> Score:
        raise ValueError("no such option")

    result = run(runner_of(Script(), decide=crash)(trial()))
    assert result.verdict is Verdict.ERROR
    assert result.execution == DONE
    assert result.scores[0].status is ScoreStatus.UNGRADED
    assert "ValueError: no such option" in result.scores[0].reason


def test_what_breaks_and_what_is_retried_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    """Each event carries the trial's id; an exception that was contained comes with its trace."""
    log.configure(verbose=True)
    try:
        run(runner_of(Script(failed(), ZeroDivisionError("by nothing")), retries=1)(trial()))
    finally:
        log.configure(verbose=False, quiet=True)
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {event["event"]: event["trial_id"] for event in events} == {
        "trial.retry": "t0",
        "trial.broken": "t0",
        "trial.finished": "t0",
    }
    facts = {event["event"]: event for event in events}
    assert (facts["trial.retry"]["attempt"], facts["trial.retry"]["delay_s"]) == (1, 1.0)
    assert facts["trial.broken"]["case"] == "c0"
    assert "ZeroDivisionError: by nothing" in facts["trial.broken"]["exception"]
    assert facts["trial.finished"]["verdict"] == "error"


def test_stages_are_chosen_by_the_kind_of_arm() -> None:
    """Direct calls and agents run on different stages in one run."""
    direct, agent = Script(Execution(text="called")), Script(Execution(text="asked"))
    stages: dict[ArmKind, Callable[[Trial], AbstractAsyncContextManager[Stage]]] = {
        ArmKind.DIRECT: direct,
        ArmKind.AGENT: agent,
    }
    grading = Grading(FakeScorers(lambda check: BoundScorer("s", FakeScorer(lambda _: Score.passed()))))
    runner = TrialRunner(stages, grading, retry=RetryPolicy())
    texts = [run(runner(trial(arm=arm))).execution.text for arm in (DIRECT, AGENT)]
    assert texts == ["called", "asked"]


# --- care for services ------------------------------------------------------------------------------------


def test_who_waits_for_a_service_has_no_workspace() -> None:
    """A stage opens when there is a place, and the place is free again while grading, so that a judge gets one."""
    services = Services(1)
    limit = services.of(Identity(name="runner"))
    script = Script()
    at_grading: list[int] = []

    def look(context: ScoreContext) -> Score:
        at_grading.append(limit.under_way)
        return Score.passed()

    async def go() -> list[str]:
        async with limit.place("somebody else"):
            waiting = asyncio.create_task(runner_of(script, decide=look, services=services)(trial(arm=AGENT)))
            await asyncio.sleep(100)
            before = list(script.steps)
        await waiting
        return before

    assert run(go()) == []
    assert script.steps == ["open", "execute", "prepare", "close"]
    assert at_grading == [0]


def test_direct_calls_wait_for_no_service() -> None:
    """A target is no service that others ask, too."""
    services = Services(1)

    async def go() -> TrialResult:
        async with services.of(Identity(name="runner")).place("somebody else"):
            return await runner_of(Script(), services=services)(trial())

    assert run(go()).verdict is Verdict.PASS


def test_a_service_that_refuses_is_not_asked_for_every_trial() -> None:
    """After five refusals in a row the others are errors with the same class that say so; no stage is opened."""
    script = Script(failed(FailureClass.AUTH, retryable=False))
    runner = runner_of(script, services=Services(1))

    async def go() -> list[TrialResult]:
        return [await runner(trial(number, arm=AGENT)) for number in range(8)]

    results = run(go())
    assert script.steps.count("open") == 5
    assert {result.verdict for result in results} == {Verdict.ERROR}
    for result in results[5:]:
        assert result.execution.failure is not None
        assert result.execution.failure.failure_class is FailureClass.AUTH
        assert result.execution.failure.message == "not tried: engine 'runner' was refused 5 times in a row: m"
        assert result.execution.duration_s is None


def test_attempts_that_were_given_up_are_told() -> None:
    """Why each failed, what it used and how long it was waited for."""
    usage = Usage(output_tokens=5, cost_usd=0.5)
    slow = failed(FailureClass.RATE_LIMITED, retry_after_s=200.0).model_copy(update={"usage": usage})
    result = run(runner_of(Script(slow, failed(), DONE), services=Services(1))(trial(arm=AGENT)))
    assert (result.attempts, result.verdict) == (3, Verdict.PASS)
    assert [(one.failure.failure_class, one.usage, one.wait_s) for one in result.given_up] == [
        (FailureClass.RATE_LIMITED, usage, 200.0),
        (FailureClass.NETWORK, None, 2.0),
    ]


def test_without_money_there_is_no_further_attempt() -> None:
    """Asked is before each, with what all attempts so far have used; the failure stays what it was."""
    usage = Usage(cost_usd=0.5)
    asked: list[tuple[Usage | None, ...]] = []

    async def affords(_one: Trial, used: Sequence[Usage | None]) -> bool:
        asked.append(tuple(used))
        return len(asked) < 2

    script = Script(failed().model_copy(update={"usage": usage}))
    result = run(runner_of(script, affords=affords)(trial(arm=AGENT)))
    assert (result.attempts, result.verdict) == (2, Verdict.ERROR)
    assert asked == [(usage,), (usage, usage)]


@pytest.mark.parametrize("place", ["prepare", "close"])
def test_what_was_paid_for_is_known_whatever_breaks_afterwards(place: str) -> None:
    """A session that ended well and could not be graded or cleaned up has cost its money all the same."""
    usage = Usage(cost_usd=0.5)
    result = run(runner_of(Script(DONE.model_copy(update={"usage": usage}), breaks=place))(trial(arm=AGENT)))
    assert result.verdict is Verdict.ERROR
    assert result.execution.usage == usage
