"""What a trial uses while it is under way counts, however its attempt ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

import pytest

from skillgauge.contract.engines import Emit
from skillgauge.contract.executors import PortableRunTrial, Results, RunTrial
from skillgauge.contract.judges import JudgeReply, JudgeRequest
from skillgauge.contract.providers import Traits
from skillgauge.contract.scorers import ScoreContext
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.run.agents import AgentSetup, AgentStages
from skillgauge.run.budget import CUT_OFF, BudgetLimits
from skillgauge.run.grading import Grading
from skillgauge.run.judges import GuardedJudge
from skillgauge.run.keeping.memory import MemoryLog, MemoryStore
from skillgauge.run.pipeline import Conclusion, Job, carry_out
from skillgauge.run.scheduling.executor import LocalExecutor
from skillgauge.run.scorers import BoundScorer
from skillgauge.run.services import Services
from skillgauge.run.trials import RetryPolicy
from skillgauge.types.arms import Arm, ArmKind
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.results.runs import RunInfo, RunState
from skillgauge.types.results.summaries import Spending
from skillgauge.types.results.trials import GivenUp
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, Suite
from skillgauge.types.trajectory import EventKind, TrajectoryEvent
from skillgauge.types.trial import Execution, Failure, FailureClass, Identity, PlanHead, Trajectory, Trial
from skillgauge.types.usage import Usage
from skillgauge_documents.redaction import Redactor
from skillgauge_testkit.fakes import FakeSandbox, FakeScorer, FakeScorers

AGENT = Identity(name="agent")
ARM = Arm(name="with", kind=ArmKind.AGENT)
LONG_S = 60.0
"""How long something waits that is to be stopped; nothing is measured by it."""


class ResumingStore(MemoryStore):
    """A store that resumes the run it holds, and notes what was journaled."""

    def __init__(self) -> None:
        super().__init__()
        self.log: Log | None = None

    async def begin(self, head: PlanHead, *, fresh: bool) -> MemoryLog:
        """Begin the run, or resume it."""
        if self.log is None:
            self.log = Log(head, RunInfo(run_id="r", state=RunState.RUNNING, started_at=1.0))
        else:
            self.log.info = self.log.info.model_copy(update={"resumed": True})
        return self.log


class Log(MemoryLog):
    """A log that notes how often something was journaled, and can fail."""

    def __init__(self, head: PlanHead, info: RunInfo) -> None:
        super().__init__(head, info)
        self.journaled = 0

    async def spend(self, unfinished: Any) -> None:
        """Note it."""
        self.journaled += 1
        await super().spend(unfinished)


class Engine:
    """An engine whose n-th session does what the n-th function does, the last one again and again."""

    def __init__(self, *plays: Callable[[Emit], Awaitable[Execution]]) -> None:
        self._plays = list(plays)
        self.sessions = 0

    async def check(self) -> tuple[()]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Always the same."""
        return AGENT

    def routes(self, model: str | None) -> tuple[()]:
        """None."""
        return ()

    async def run(self, request: object, workspace: object, emit: Emit) -> Execution:
        """Play a session."""
        play = self._plays[min(self.sessions, len(self._plays) - 1)]
        self.sessions += 1
        return await play(emit)


class Judge:
    """A judge that answers so often, and then calls a function and waits."""

    def __init__(self, answers: int, on_silence: Callable[[], None]) -> None:
        self._answers = answers
        self._on_silence = on_silence

    async def check(self) -> tuple[()]:
        """Nothing is wrong."""
        return ()

    def identity(self, model: str | None) -> Identity:
        """Always the same."""
        return Identity(name="judge")

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Answer, or wait."""
        if not self._answers:
            self._on_silence()
            await asyncio.sleep(LONG_S)
        self._answers -= 1
        return JudgeReply(text="yes", usage=Usage(total_tokens=7, cost_usd=0.5))


def used(tokens: int, cost_usd: float | None = None) -> Usage:
    """The usage of a session."""
    return Usage(total_tokens=tokens, cost_usd=cost_usd)


def done(tokens: int, cost_usd: float | None = None) -> Callable[[Emit], Awaitable[Execution]]:
    """A session that comes to its end."""

    async def play(_emit: Emit) -> Execution:
        return Execution(text="done", trajectory=Trajectory(), usage=used(tokens, cost_usd))

    return play


def plan_of(*names: str, paid: bool = True) -> Plan:
    """A plan of one suite with these cases for an agent."""
    cases = tuple(Case(id=name, prompt=name, checks=(Check(id="k", scorer="good"),)) for name in names)
    suite = Suite(id="s", format="f", root="/s", cases=cases)
    return make_plan([SuitePlan(suite, (Cell(ARM, AGENT, None, paid=paid),))], [survey(suite, Selection())], Terms())


class Runner:
    """Runs one plan again and again, as commands of one run."""

    def __init__(self, *names: str, paid: bool = True) -> None:
        self.plan = plan_of(*names, paid=paid)
        self.store = ResumingStore()
        self.stop = asyncio.Event()

    def hangs(self, *tokens: int) -> Callable[[Emit], Awaitable[Execution]]:
        """A session that emits its usage, has the run stopped, and waits."""

        async def play(emit: Emit) -> Execution:
            for count in tokens:
                emit(used(count))
            self.stop.set()
            await asyncio.sleep(LONG_S)
            raise AssertionError("the session was not cancelled")

        return play

    def run(
        self, engine: Engine | None = None, *, judge: Judge | None = None, asked: int = 0, **options: Any
    ) -> Conclusion:
        """Carry the plan out once more."""

        async def score(context: ScoreContext) -> Score:
            for number in range(asked):
                assert context.judge is not None
                await context.judge.ask(JudgeRequest(system="", user=f"question {number}"))
            return Score.passed()

        async def go() -> Conclusion:
            self.stop = asyncio.Event()
            judges = (GuardedJudge(judge, lambda request: request, Services(1)),) if judge else ()
            scorers = FakeScorers(lambda check: BoundScorer(check.scorer, FakeScorer(score)))
            setups = {AGENT.digest: AgentSetup(engine or Engine(), Traits(paid=True))}
            stages = AgentStages(setups, FakeSandbox(), lambda _ref: ())
            job = Job(
                stages={ArmKind.AGENT: stages},
                grading=Grading(scorers, judges=judges),
                figures=lambda summary: {},
                store=self.store,
                watch_agents=lambda hear: setattr(stages, "on_step", hear),
                **options,
            )
            return await asyncio.wait_for(carry_out(self.plan, job, self.stop), LONG_S)

        return asyncio.run(go())


def spending_of(outcome: Conclusion) -> Spending:
    """What a run says that it has spent."""
    assert outcome.view.summary.spending
    return outcome.view.summary.spending


def test_a_session_that_a_stop_cuts_off_counts_in_every_command() -> None:
    """The command that is stopped says what was used, the next ones add theirs, and the result names each attempt."""
    runner = Runner("a")
    for times in (1, 2):
        outcome = runner.run(Engine(runner.hangs(10, 30)))
        assert outcome.view.run.state is RunState.INTERRUPTED
        assert spending_of(outcome) == Spending(tokens=30 * times, unknown=1, cut_off=times)
    outcome = runner.run(Engine(done(100, 2.0)))
    assert spending_of(outcome) == Spending(cost_usd=2.0, tokens=160, unknown=1, cut_off=2)
    (result,) = outcome.view.results()
    assert result.attempts == 3
    assert [(one.usage, one.is_cut_off, one.failure.message) for one in result.given_up] == [
        (used(30), True, CUT_OFF)
    ] * 2


def test_an_engine_that_tells_no_usage_leaves_it_unknown() -> None:
    """A cut-off session of which nothing is known has an unknown cost, and not none."""
    runner = Runner("a")
    outcome = runner.run(Engine(runner.hangs()))
    assert spending_of(outcome) == Spending(unknown=1, cut_off=1)


def test_what_costs_nothing_is_written_at_the_end_only() -> None:
    """A free session is not journaled while it is under way, and one that told no usage leaves no unknown cost."""
    runner = Runner("a", paid=False)
    outcome = runner.run(Engine(runner.hangs(10, 30)))
    assert runner.store.log is not None
    assert (spending_of(outcome).tokens, runner.store.log.journaled) == (30, 1)
    silent = Runner("a", paid=False)
    assert silent.run(Engine(silent.hangs())).view.summary.spending is None


def test_usage_is_in_the_store_while_the_session_is_under_way() -> None:
    """A crash at any time finds what was emitted before, since it is written without waiting for an end."""
    runner = Runner("a")
    seen: list[int] = []

    async def play(emit: Emit) -> Execution:
        log = runner.store.log
        assert log is not None
        for tokens in (5, 50):
            emit(used(tokens))
            for _ in range(2000):
                kept = [one.usage.all_tokens for trial in log.unfinished() for one in trial.attempts if one.usage]
                if kept == [tokens]:
                    seen.append(tokens)
                    break
                await asyncio.sleep(0.01)
        return Execution(text="done", trajectory=Trajectory(), usage=used(60))

    outcome = runner.run(Engine(play))
    assert seen == [5, 50]
    assert spending_of(outcome) == Spending(tokens=60, unknown=1)
    assert runner.store.log is not None
    assert list(runner.store.log.unfinished()) == []


def test_the_last_step_is_in_the_store_while_the_session_is_under_way() -> None:
    """Whoever looks on sees kind and tool of the newest step, not its text, and after new usage still the same."""
    runner = Runner("a")
    shown: list[str] = []
    events = [
        TrajectoryEvent(kind=EventKind.MESSAGE, text="a long text"),
        used(5),
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", text="ls"),
        used(50),
    ]
    steps = ["message", "message", "tool_call Bash", "tool_call Bash"]

    async def play(emit: Emit) -> Execution:
        log = runner.store.log
        assert log is not None
        for event, step in zip(events, steps, strict=True):
            emit(event)
            for _ in range(2000):
                (session,) = log.progress().under_way
                if session.last_step == step:
                    shown.append(session.last_step)
                    break
                await asyncio.sleep(0.01)
        return Execution(text="done", trajectory=Trajectory(), usage=used(60))

    runner.run(Engine(play))
    assert shown == steps
    assert runner.store.log is not None
    assert runner.store.log.progress().under_way == ()


def test_attempts_that_failed_before_a_stop_count_too() -> None:
    """A retry loses what the attempt before it used no more than the stop that ends it."""
    runner = Runner("a")

    async def overloaded(_emit: Emit) -> Execution:
        failure = Failure.of_agent(FailureClass.OVERLOADED, "busy")
        return Execution(failure=failure, trajectory=Trajectory(), usage=used(11))

    outcome = runner.run(Engine(overloaded, runner.hangs(30)), retry=RetryPolicy(1, base_s=0))
    assert (spending_of(outcome).tokens, spending_of(outcome).cut_off) == (41, 1)
    outcome = runner.run(Engine(done(100)))
    (result,) = outcome.view.results()
    classes = [(one.failure.failure_class, one.is_cut_off) for one in result.given_up]
    assert classes == [(FailureClass.OVERLOADED, False), (FailureClass.KILLED, True)]
    assert spending_of(outcome).tokens == 141


@pytest.mark.parametrize("paid", [True, False])
def test_no_secret_of_what_was_cut_off_is_stored(paid: bool) -> None:
    """Neither in the failure of an attempt nor in its last step, whether it is written at once or at the end."""
    runner, redactor = Runner("a", paid=paid), Redactor()
    redactor.register("KEY", "sk-a-secret")

    async def overloaded(emit: Emit) -> Execution:
        emit(used(11))
        emit(TrajectoryEvent(kind=EventKind.TOOL_CALL, name="mcp__sk-a-secret__ls"))
        failure = Failure.of_agent(FailureClass.OVERLOADED, "busy: sk-a-secret")
        return Execution(failure=failure, trajectory=Trajectory(), usage=used(11))

    runner.run(Engine(overloaded, runner.hangs(30)), retry=RetryPolicy(1, base_s=0), clean=redactor.redact)
    assert runner.store.log is not None
    (unfinished,) = runner.store.log.unfinished()
    assert [one.failure.message for one in unfinished.attempts] == ["busy: [redacted:KEY]", CUT_OFF]
    assert unfinished.last_step == "tool_call mcp__[redacted:KEY]__ls"


def test_judges_that_were_asked_before_a_stop_count() -> None:
    """Answers of a judge are counted, the call under way is unknown, and so is not the whole session."""
    runner = Runner("a")
    judge = Judge(2, lambda: runner.stop.set())
    outcome = runner.run(Engine(done(100, 2.0)), judge=judge, asked=3)
    assert spending_of(outcome) == Spending(cost_usd=3.0, tokens=114, unknown=1, cut_off=1)
    assert runner.store.log is not None
    (unfinished,) = runner.store.log.unfinished()
    (attempt,) = unfinished.attempts
    assert attempt.usage == used(100, 2.0)
    assert attempt.judges == (Usage(total_tokens=7, cost_usd=0.5),) * 2 + (None,)


@pytest.mark.parametrize("limits", [BudgetLimits(tokens=100), BudgetLimits(cost_usd=9.0)])
def test_limits_count_what_was_cut_off(limits: BudgetLimits) -> None:
    """Sessions that were cut off bring the run to its limit: in tokens at once, in dollars by the price of others."""
    runner = Runner("a", "b", "c")
    runner.run(Engine(runner.hangs(60)), budget=limits)
    engine = Engine(done(30, 3.0))
    outcome = runner.run(engine, budget=limits)
    assert outcome.view.run.state is RunState.STOPPED
    expected = 0 if limits.tokens else 1  # 60 tokens at a tenth of a dollar, and three dollars
    assert engine.sessions == expected
    assert spending_of(outcome).tokens == 60 + 30 * expected


def test_a_session_that_breaks_keeps_what_it_has_emitted() -> None:
    """An engine that raises, or that a time limit ends, has used what it has told until then."""
    runner = Runner("a")

    async def breaks(emit: Emit) -> Execution:
        emit(used(21))
        raise RuntimeError("broken")

    outcome = runner.run(Engine(breaks))
    (result,) = outcome.view.results()
    assert result.execution.usage == used(21)
    assert spending_of(outcome).tokens == 21


def test_attempts_of_a_result_are_counted_once() -> None:
    """The usages of a result are those of its session, of attempts before it, and of the judges of both."""
    failure = Failure.of_agent(FailureClass.KILLED, CUT_OFF)
    attempts = (
        GivenUp(failure=failure, usage=used(1), wait_s=0, judges=(used(2), None)),
        GivenUp(failure=failure, wait_s=0, judges=(used(4),), has_session=False),
    )
    assert [attempt.usages for attempt in attempts] == [(used(1), used(2), None), (used(4),)]


class Elsewhere:
    """An executor whose attempts are made by a function that gets the trial and what reports its usage."""

    def __init__(self, attempt: Callable[[Callable[[GivenUp], None]], Awaitable[Any]]) -> None:
        self._attempt = attempt

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """Schedule here, attempt there."""
        portable = cast("PortableRunTrial", run_trial)

        async def attempt(trial: Trial) -> Any:
            return await self._attempt(lambda spent: portable.spent(trial.trial_id, spent))

        return LocalExecutor(1).run(trials, portable.elsewhere(attempt))


def cut(tokens: int | None) -> GivenUp:
    """What a worker reports of an attempt under way."""
    failure = Failure.of_agent(FailureClass.KILLED, CUT_OFF)
    return GivenUp(failure=failure, usage=tokens and used(tokens), wait_s=0, judges=(used(1),), is_cut_off=True)


@pytest.mark.parametrize("reports", [True, False])
def test_an_attempt_in_another_process_that_a_stop_cuts_off_counts(reports: bool) -> None:
    """It counts with what the executor has reported, and is unknown where it reported nothing."""
    runner = Runner("a")

    async def attempt(report: Callable[[GivenUp], None]) -> Any:
        if reports:
            report(cut(5))
            report(cut(9))
        runner.stop.set()
        await asyncio.sleep(LONG_S)

    outcome = runner.run(executor=Elsewhere(attempt))
    assert spending_of(outcome) == Spending(tokens=10 if reports else 0, unknown=1, cut_off=1)


def test_an_attempt_whose_worker_died_has_used_what_it_reported() -> None:
    """So does the trial if no other attempt is made, judges included."""
    runner = Runner("a")

    async def attempt(report: Callable[[GivenUp], None]) -> Any:
        report(cut(9))
        return Failure.of_agent(FailureClass.KILLED, "the worker died")

    outcome = runner.run(executor=Elsewhere(attempt))
    (result,) = outcome.view.results()
    assert result.usages == (used(9), used(1))
    assert spending_of(outcome).tokens == 10
