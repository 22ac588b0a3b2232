"""Carrying a plan out from beginning to end: what is told when, what is left when it stops, and who frees what."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from skillgauge.contract.adapters import CallRequest
from skillgauge.contract.executors import PortableRunTrial, Results, RunTrial
from skillgauge.contract.scorers import ScoreContext
from skillgauge.contract.stores import Claimed
from skillgauge.decide.decision import GateOptions, decide
from skillgauge.errors import ExitCode, PolicyError, Problem, StoreError
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.plugins.events import Events as Listeners
from skillgauge.run.agents import OnStep
from skillgauge.run.budget import BudgetLimits
from skillgauge.run.direct import DirectStages
from skillgauge.run.grading import Grading
from skillgauge.run.keeping.memory import MemoryLog, MemoryStore
from skillgauge.run.pipeline import Conclusion, Job, carry_out
from skillgauge.run.scheduling.executor import LocalExecutor
from skillgauge.run.scorers import BoundScorer
from skillgauge.run.trials import RetryPolicy, TrialRunner
from skillgauge.types.arms import DIRECT, ArmKind, GroupKey
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.results.runs import ResultOrder, RunInfo, RunState
from skillgauge.types.results.summaries import Figure, SuiteSummary, Summary
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, Suite, Target
from skillgauge.types.trajectory import EventKind, Trajectory, TrajectoryEvent
from skillgauge.types.trial import Blame, CaseHead, Execution, Failure, FailureClass, Identity, PlanHead, Trial
from skillgauge.types.usage import Usage
from skillgauge_testkit.fakes import FakeAdapter, FakeSandbox, FakeScorer, FakeScorers

LONG_S = 60.0
"""How long a test waits for something that must happen before it gives up; nothing is measured by it."""


def plan_of(*names: str, adapter: FakeAdapter | None = None, paid: bool = False, runs: int = 1) -> Plan:
    """A plan of one suite with these cases."""
    target = Target(id="skill")
    cases = tuple(Case(id=name, input=name, checks=(Check(id="k", scorer="exact"),)) for name in names)
    suite = Suite(id="s", format="f", root="/s", cases=cases, targets=(target,))
    cell = Cell(DIRECT, (adapter or FakeAdapter()).identity(target), target, paid=paid)
    return make_plan([SuitePlan(suite, (cell,))], [survey(suite, Selection())], Terms(runs=runs))


class Events(Listeners):
    """Remembers what it is told, and whether the result was written by then."""

    def __init__(self, store: Store | None = None, *, veto: str = "") -> None:
        super().__init__({}, lambda _name, _problem: None)
        self.log: list[str] = []
        self.summaries: list[Summary] = []
        self._store = store
        self._veto = veto

    def plan_ready(self, plan: PlanHead) -> None:
        """Forbid it, if so told."""
        self.log.append(f"plan of {plan.trial_count}")
        if self._veto:
            raise PolicyError(self._veto)

    def trial_started(self, trial: Trial) -> None:
        """Note it."""
        self.log.append(f"started {trial.case.id}")
        if self._store:
            assert trial.trial_id in self._store.logs[-1].claimed

    def trial_finished(self, result: TrialResult) -> None:
        """Note it."""
        self.log.append(f"finished {result.case_id}")
        if self._store:
            assert result in list(self._store.logs[-1].results(ResultOrder.PLAN))

    def run_finished(self, run: RunInfo, summary: Summary) -> None:
        """Note it."""
        self.log.append(f"run {run.state}")
        self.summaries.append(summary)

    def close(self, timeout_s: float = 0.0) -> None:
        """Note it."""
        self.log.append("closed")


class Log(MemoryLog):
    """A log that notes claims and commits, and fails as it is told."""

    def __init__(self, head: PlanHead, info: RunInfo) -> None:
        super().__init__(head, info)
        self.claimed: list[str] = []
        self.commits: list[tuple[list[str], bool]] = []
        self.error: Exception | None = None

    async def claim(self, trials: Sequence[Trial], cases: Sequence[CaseHead] = ()) -> Claimed:
        """Note the ids."""
        self.claimed += [trial.trial_id for trial in trials]
        return await super().claim(trials, cases)

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """Write or fail."""
        if self.error:
            raise self.error
        self.commits.append(([result.case_id for result in results], paid))
        await super().commit(results, paid=paid)


class Store(MemoryStore):
    """A store that resumes the newest unfinished run of the same plan, as durable ones do."""

    def __init__(self, *, error: Exception | None = None) -> None:
        super().__init__()
        self.logs: list[Log] = []
        self.begun: list[bool] = []
        self._error = error

    async def begin(self, head: PlanHead, *, fresh: bool) -> Log:
        """Resume, unless that is not wanted."""
        self.begun.append(fresh)
        if self._error:
            raise self._error
        for log in reversed(self.logs):
            if not fresh and log.head.plan_id == head.plan_id and log.info.state is not RunState.FINISHED:
                log.info = log.info.model_copy(update={"resumed": True})
                return log
        info = RunInfo(run_id=f"r{len(self.logs)}", state=RunState.RUNNING, started_at=1.0)
        self.logs.append(Log(head, info))
        return self.logs[-1]


def job_of(adapter: FakeAdapter, **options: Any) -> Job:
    """A job that calls a fake target and passes what answers its input."""

    def decide_equal(context: ScoreContext) -> Score:
        same = context.execution.output == context.case.input
        return Score.passed() if same else Score.failed("not equal")

    stages = DirectStages(lambda target: adapter, FakeSandbox())
    defaults: dict[str, Any] = {
        "stages": {ArmKind.DIRECT: stages},
        "grading": Grading(FakeScorers(lambda check: BoundScorer(check.scorer, FakeScorer(decide_equal)))),
        "figures": lambda summary: {},
        "close": stages.close,
    }
    return Job(**(defaults | options))


def carry(plan: Plan, job: Job) -> Conclusion:
    """Carry a plan out."""
    return asyncio.run(carry_out(plan, job))


# --- a whole run ------------------------------------------------------------------------------------------


def test_a_run_executes_scores_keeps_and_summarises() -> None:
    """Every case is called once, graded, written and counted; the view reads the same results again and again."""
    adapter = FakeAdapter(lambda request, _: Execution(output="a", duration_s=0.5))
    outcome = carry(plan_of("a", "b", "c"), job_of(adapter))
    assert [request.case_id for request in adapter.requests] == ["a", "b", "c"]
    for _ in range(2):
        assert [(one.case_id, one.verdict) for one in outcome.view.results()] == [
            ("a", Verdict.PASS),
            ("b", Verdict.FAIL),
            ("c", Verdict.FAIL),
        ]
    assert (outcome.complete, outcome.already_done) == (True, 0)
    assert outcome.view.run.state is RunState.FINISHED
    assert outcome.view.run.finished_at is not None
    assert (outcome.view.summary.counts.total, outcome.view.summary.counts.passed) == (3, 1)
    assert outcome.view.summary.groups[0].pass_rate.rate == pytest.approx(1 / 3)
    assert outcome.view.head.trial_count == 3


def test_figures_of_the_format_are_in_the_summary() -> None:
    """The job says whom to ask."""

    def figures(summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        (group,) = summary.groups
        return {group.key: (Figure(name="n", label=summary.suite.id, value=group.counts.total),)}

    outcome = carry(plan_of("a"), job_of(FakeAdapter(), figures=figures))
    assert [figure.value for figure in outcome.view.summary.groups[0].figures] == [1.0]


def test_an_empty_plan_is_a_complete_run() -> None:
    """There is nothing to do, and it is done."""
    outcome = carry(plan_of(), job_of(FakeAdapter()))
    assert (outcome.complete, list(outcome.view.results())) == (True, [])


def test_failures_are_retried_as_the_job_says() -> None:
    """The policy of the job reaches the trials, and attempts are counted."""
    failure = Failure(failure_class=FailureClass.NETWORK, blame=Blame.TARGET, message="m", retryable=True)
    adapter = FakeAdapter(queue=[Execution(failure=failure)])
    outcome = carry(plan_of("a"), job_of(adapter, retry=RetryPolicy(1, base_s=0)))
    (result,) = outcome.view.results()
    assert (result.attempts, result.verdict) == (2, Verdict.PASS)


def test_results_are_cleaned_before_they_are_kept() -> None:
    """No secret reaches the store, an event or the report, be it in a result or in what is kept of a case."""
    store, told = Store(), list[TrialResult]()

    def clean(value: Any) -> Any:
        hidden = {"input": "***"} if isinstance(value, CaseHead) else {"execution": Execution(output="***")}
        return value.model_copy(update=hidden)

    outcome = carry(plan_of("a"), job_of(FakeAdapter(), clean=clean, store=store, progress=told.append))
    assert [one.execution.output for one in (*outcome.view.results(), *told)] == ["***", "***"]
    assert [one.input for one in outcome.view.cases()] == ["***"]


@pytest.mark.requirement("SE-HOST-003")
def test_a_result_names_model_and_date() -> None:
    """The model that was asked for, the one that says it answered, who judged, and when the attempt began."""
    plan = plan_of("a")
    cell = replace(plan.suites[0].cells[0], model="m-1")
    judge = Identity(name="judge", settings={"model": "j-1"})
    head = plan.head.model_copy(update={"judges": (judge,), "models": ("m-1",)})
    plan = replace(plan, head=head, suites=(replace(plan.suites[0], cells=(cell,)),))
    before = time.time()
    said = Execution(output="a", trajectory=Trajectory(model="m-1-2026"))
    outcome = carry(plan, job_of(FakeAdapter(lambda _request, _target: said)))
    (result,) = outcome.view.results()
    assert (result.model, result.execution.trajectory) == ("m-1", Trajectory(model="m-1-2026"))
    assert before <= result.started_at <= time.time()
    assert (outcome.view.head.models, outcome.view.head.judges) == (("m-1",), (judge,))


def test_a_verdict_that_costs_money_makes_its_trial_a_paid_one() -> None:
    """A direct call with a judged check is kept singly and counts towards the budget; one without is neither."""
    judged, plain = Check(id="j", scorer="asks"), Check(id="p", scorer="equals")
    plan = plan_of()
    cases = tuple(Case(id=name, checks=(judged if name in "bd" else plain,)) for name in "abcde")
    suite = plan.suites[0].suite.model_copy(update={"cases": cases})
    plan = replace(plan, suites=(replace(plan.suites[0], suite=suite),), paid_scorers=frozenset({"asks"}))
    assert [trial.case.id for trial in plan.trials() if trial.paid] == ["b", "d"]

    def bind(check: Check) -> BoundScorer:
        usage = Usage(total_tokens=60) if check.scorer == "asks" else None
        return BoundScorer(check.scorer, FakeScorer(lambda _: Score.passed().model_copy(update={"usage": usage})))

    store = Store()
    job = replace(
        job_of(FakeAdapter(), store=store), grading=Grading(FakeScorers(bind)), budget=BudgetLimits(tokens=100)
    )
    outcome = carry(plan, job)
    assert (["b"], True) in store.logs[0].commits
    assert [result.case_id for result in outcome.view.results()] == ["a", "b", "c"]
    assert outcome.view.run.state is RunState.STOPPED


@pytest.mark.parametrize("paid", [True, False])
def test_paid_results_are_written_singly(paid: bool) -> None:
    """What the plan calls paid is kept with the care that this deserves."""
    store = Store()
    carry(plan_of("a", "b", paid=paid), job_of(FakeAdapter(), store=store))
    assert store.logs[0].commits == ([(["a"], True), (["b"], True)] if paid else [(["a", "b"], False)])


def test_trials_run_at_once_as_the_job_says() -> None:
    """All four wait for each other, which only works if they are under way together."""
    waiting = 0
    everybody = asyncio.Event()

    class Session:
        async def call(self, request: CallRequest) -> Execution:
            nonlocal waiting
            waiting += 1
            if waiting == 4:
                everybody.set()
            await asyncio.wait_for(everybody.wait(), LONG_S)
            return Execution(output=request.input)

        async def close(self) -> None:
            pass

    class Adapter(FakeAdapter):
        async def open(self, target: Target, workspace: Any) -> Any:
            return Session()

    outcome = carry(plan_of(*"abcd"), job_of(Adapter(), concurrency=4))
    assert outcome.view.summary.counts.passed == 4


def test_another_executor_may_run_the_trials() -> None:
    """It gets claimed trials and a function that runs one; the rest of the pipeline does not notice."""
    ran: list[str] = []

    class Reversed:
        complete = False

        def __init__(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> None:
            self._results = self._each(trials, run_trial)

        async def _each(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> AsyncIterator[TrialResult]:
            for trial in reversed([one async for one in trials]):
                ran.append(trial.case.id)
                yield await run_trial(trial)
            self.complete = True

        def __aiter__(self) -> AsyncIterator[TrialResult]:
            return self

        async def __anext__(self) -> TrialResult:
            return await anext(self._results)

        def stop(self) -> None:
            """Nobody stops it here."""

        async def aclose(self) -> None:
            """Nothing is held."""

    class Backwards:
        def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Reversed:
            return Reversed(trials, run_trial)

    outcome = carry(plan_of(*"abc"), job_of(FakeAdapter(), executor=Backwards()))
    assert ran == ["c", "b", "a"]
    assert [one.case_id for one in outcome.view.results()] == ["a", "b", "c"]


def test_attempts_may_be_made_elsewhere() -> None:
    """Somebody else makes each attempt; who is told, whether there is another and what is kept is decided here."""
    here, there = FakeAdapter(), FakeAdapter(lambda request, _: Execution(output=request.input))
    lost = Failure(failure_class=FailureClass.KILLED, blame=Blame.INFRASTRUCTURE, message="gone", retryable=True)
    other = job_of(there)
    worker = TrialRunner(other.stages, other.grading, retry=RetryPolicy())
    made: list[str] = []

    async def attempt(trial: Trial) -> TrialResult | Failure:
        made.append(trial.case.id)
        return lost if made.count("b") == 1 and trial.case.id == "b" else await worker(trial)

    class Elsewhere:
        def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
            portable = cast("PortableRunTrial", run_trial)
            assert (portable.concurrency, portable.recipe) == (1, b"recipe")
            return LocalExecutor(portable.concurrency).run(trials, portable.elsewhere(attempt))

    events = Events()
    retry = RetryPolicy(retries=1, base_s=0)
    outcome = carry(plan_of(*"abc"), job_of(here, executor=Elsewhere(), recipe=b"recipe", retry=retry, events=events))
    assert made == ["a", "b", "b", "c"]
    assert not here.requests
    assert [(one.case_id, one.verdict, one.attempts) for one in outcome.view.results()] == [
        ("a", Verdict.PASS, 1),
        ("b", Verdict.PASS, 2),
        ("c", Verdict.PASS, 1),
    ]
    assert [one.failure for result in outcome.view.results() for one in result.given_up] == [lost]
    assert [step for step in events.log if step.startswith("started")] == ["started a", "started b", "started c"]


def test_attempt_that_is_lost_elsewhere_is_an_error() -> None:
    """What nobody could make is graded as any failure of the surroundings, under the score id of its checks."""
    lost = Failure(failure_class=FailureClass.KILLED, blame=Blame.INFRASTRUCTURE, message="gone")

    async def attempt(_trial: Trial) -> Failure:
        return lost

    class Elsewhere:
        def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
            return LocalExecutor(1).run(trials, cast("PortableRunTrial", run_trial).elsewhere(attempt))

    (here,) = carry(plan_of("a"), job_of(FakeAdapter())).view.results()
    (result,) = carry(plan_of("a"), job_of(FakeAdapter(), executor=Elsewhere())).view.results()
    assert (result.verdict, result.execution.failure, result.score_id) == (Verdict.ERROR, lost, here.score_id)


# --- events -----------------------------------------------------------------------------------------------


def test_events_come_in_order() -> None:
    """The plan, then each trial's start after its claim and its end after its result was written, then the run."""
    store = Store()
    events = Events(store)
    order: list[str] = events.log
    job = job_of(
        FakeAdapter(),
        store=store,
        events=events,
        progress=lambda result: order.append(f"progress {result.case_id}"),
        on_begin=lambda info: order.append(f"begin {info.run_id}"),
    )
    outcome = carry(plan_of("a", "b", paid=True), job)
    assert order[:2] == ["plan of 2", "begin r0"]
    assert order[-2:] == ["run finished", "closed"]
    for name in "ab":
        steps = [step for step in order if step.endswith(f" {name}")]
        assert steps == [f"started {name}", f"finished {name}", f"progress {name}"]
    assert len(order) == 2 + 3 * 2 + 2
    assert events.summaries == [outcome.view.summary]


def test_a_watched_job_tells_how_far_it_is() -> None:
    """The command line adds its progress to a job that somebody else has made, and learns what agents do."""
    seen: list[str] = []
    told: list[OnStep] = []
    job = replace(job_of(FakeAdapter(), concurrency=2), watch_agents=told.append)

    def step(trial: Trial, event: TrajectoryEvent) -> None:
        """Learn what an agent does."""
        seen.append(f"{trial.case.id} {event.text}")

    watched = job.watched(lambda result: seen.append(result.case_id), lambda info: seen.append(info.state), step)
    carry(plan_of("a", "b"), watched)
    assert seen == ["running", "a", "b"]
    (hear,) = told
    hear(next(plan_of("a").trials()), TrajectoryEvent(kind=EventKind.MESSAGE, text="steps"))
    assert seen[-1] == "a steps"
    assert watched.concurrency == 2
    assert job.progress is None


def test_a_policy_may_forbid_the_run() -> None:
    """Nothing is opened, claimed, called or told; the refusal is the caller's to show."""
    adapter, store = FakeAdapter(), Store()
    events = Events(veto="too expensive")
    with pytest.raises(PolicyError, match="too expensive"):
        carry(plan_of("a"), job_of(adapter, store=store, events=events))
    assert (adapter.requests, store.begun) == ([], [])
    assert events.log == ["plan of 1", "closed"]


# --- stopping and resuming --------------------------------------------------------------------------------


class Stopper(FakeAdapter):
    """Sets an event when it is asked for a certain case, and then never answers."""

    def __init__(self, stop: asyncio.Event, at: str) -> None:
        super().__init__()
        self.stop = stop
        self.at = at
        self.cancelled: list[str] = []

    async def open(self, target: Target, workspace: Any) -> Any:
        """A session that can hang."""
        session = await super().open(target, workspace)
        answer = session.call

        async def call(request: CallRequest) -> Execution:
            if request.case_id == self.at:
                self.stop.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    self.cancelled.append(request.case_id)
            return await answer(request)

        session.call = call  # type: ignore[method-assign]  # a session of its own would say no more
        return session


def stopped_at(name: str, store: Store, *cases: str, **options: Any) -> tuple[Conclusion, Stopper]:
    """A run that is stopped while a case is under way; of paid trials, none of which is claimed ahead."""

    async def go() -> tuple[Conclusion, Stopper]:
        stop = asyncio.Event()
        adapter = Stopper(stop, name)
        outcome = await asyncio.wait_for(
            carry_out(plan_of(*cases, paid=True), job_of(adapter, store=store, **options), stop), LONG_S
        )
        return outcome, adapter

    return asyncio.run(go())


def test_a_stopped_run_keeps_and_summarises_what_is_done() -> None:
    """Its state is interrupted, what was under way is cancelled, and the target's session is closed."""
    events = Events()
    outcome, adapter = stopped_at("c", Store(), *"abcd", events=events)
    assert outcome.complete is False
    assert outcome.view.run.state is RunState.INTERRUPTED
    assert [one.case_id for one in outcome.view.results()] == ["a", "b"]
    assert outcome.view.summary.counts.total == 2
    assert (adapter.cancelled, adapter.closed) == (["c"], 1)
    assert events.log[-2:] == ["run interrupted", "closed"]
    assert decide(outcome.view, GateOptions()).exit_code is ExitCode.INTERRUPTED


def test_a_stopped_run_counts_what_it_interrupted() -> None:
    """The attempt that was under way started and left no result."""
    outcome, _ = stopped_at("c", Store(), *"abcd")
    assert outcome.view.summary.interrupted_attempts == 1


def test_an_interrupted_run_is_resumed() -> None:
    """Only what has no result runs again; the summary is of the whole; interrupted attempts are counted."""
    store, begun = Store(), list[RunInfo]()
    stopped_at("c", store, *"abcd")
    adapter = FakeAdapter()
    outcome = carry(plan_of(*"abcd", paid=True), job_of(adapter, store=store, on_begin=begun.append))
    assert [request.case_id for request in adapter.requests] == ["c", "d"]
    assert outcome.already_done == 2
    assert outcome.complete
    assert begun[0].resumed
    assert [(one.case_id, one.attempts) for one in outcome.view.results()] == [("a", 1), ("b", 1), ("c", 2), ("d", 1)]
    assert outcome.view.summary.counts.total == 4
    assert outcome.view.summary.interrupted_attempts == 1
    assert outcome.view.run.state is RunState.FINISHED


def test_retries_and_interruptions_add_up() -> None:
    """The attempts of a result are all that were made for it in this run, resumed or not."""
    store = Store()
    stopped_at("a", store, "a")
    failure = Failure(failure_class=FailureClass.NETWORK, blame=Blame.TARGET, message="m", retryable=True)
    adapter = FakeAdapter(queue=[Execution(failure=failure)])
    outcome = carry(plan_of("a", paid=True), job_of(adapter, store=store, retry=RetryPolicy(2, base_s=0)))
    assert [one.attempts for one in outcome.view.results()] == [3]


def test_a_stop_ends_the_wait_for_a_budget() -> None:
    """The others wait to learn what the first has cost; it is cancelled and will never tell."""
    outcome, adapter = stopped_at("a", Store(), *"abcd", budget=BudgetLimits(cost_usd=9), concurrency=4)
    assert outcome.view.run.state is RunState.INTERRUPTED
    assert (adapter.cancelled, adapter.requests) == (["a"], [])
    assert outcome.view.summary.interrupted_attempts == 1


def test_a_fresh_run_resumes_nothing() -> None:
    """The wish reaches the store."""
    store = Store()
    stopped_at("b", store, *"ab")
    adapter = FakeAdapter()
    outcome = carry(plan_of(*"ab", paid=True), job_of(adapter, store=store, fresh=True))
    assert store.begun == [False, True]
    assert (len(adapter.requests), outcome.already_done, len(store.logs)) == (2, 0, 2)


def test_a_finished_run_is_not_resumed() -> None:
    """The same command is a new run then."""
    store, adapter = Store(), FakeAdapter()
    for _ in range(2):
        carry(plan_of("a"), job_of(adapter, store=store))
    assert (len(adapter.requests), len(store.logs)) == (2, 2)


# --- budgets ----------------------------------------------------------------------------------------------


def priced(request: CallRequest, _target: Target) -> Execution:
    """An answer that costs a dollar."""
    return Execution(output=request.input, usage=Usage(cost_usd=1.0, total_tokens=100))


@pytest.mark.parametrize("limits", [BudgetLimits(cost_usd=2), BudgetLimits(tokens=250), BudgetLimits(5, 200)])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_that_exhausts_its_budget_is_stopped(limits: BudgetLimits, concurrency: int) -> None:
    """Nothing starts that cannot be paid; what is done is summarised, and the exit code says why it is not all."""
    adapter, events = FakeAdapter(priced), Events()
    job = job_of(adapter, budget=limits, concurrency=concurrency, events=events)
    outcome = carry(plan_of(*"abcd", paid=True), job)
    assert [request.case_id for request in adapter.requests] == ["a", "b"]
    assert (outcome.complete, outcome.view.run.state) == (False, RunState.STOPPED)
    assert outcome.view.summary.counts.total == 2
    assert events.log[-2:] == ["run stopped", "closed"]
    decision = decide(outcome.view, GateOptions(exit_on_fail=True, min_completion=1))
    assert decision.exit_code is ExitCode.BUDGET
    assert "2 of 4 trials" in decision.verdict


def test_a_run_that_a_budget_stopped_is_resumed() -> None:
    """With a higher limit; no trial runs twice, and the one that was held back never counts as begun."""
    store = Store()
    ran = []
    for limit in (2, 2, 4, 5):
        adapter = FakeAdapter(priced)
        job = job_of(adapter, store=store, budget=BudgetLimits(cost_usd=limit))
        outcome = carry(plan_of(*"abcde", paid=True), job)
        ran.append([request.case_id for request in adapter.requests])
    assert ran == [["a", "b"], [], ["c", "d"], ["e"]]
    assert outcome.view.run.state is RunState.FINISHED
    assert [(one.case_id, one.attempts) for one in outcome.view.results()] == [(name, 1) for name in "abcde"]
    assert outcome.view.summary.interrupted_attempts == 0


def test_a_budget_holds_back_only_what_costs() -> None:
    """Trials that are free all run; one that has no budget left for anything paid does not even start it."""
    adapter = FakeAdapter(priced)
    outcome = carry(plan_of(*"abc"), job_of(adapter, budget=BudgetLimits(cost_usd=0.5)))
    assert (len(adapter.requests), outcome.view.run.state) == (3, RunState.FINISHED)


# --- what goes wrong --------------------------------------------------------------------------------------


class Closing:
    """Counts how often the stages are freed, and may fail to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.count = 0
        self._error = error

    async def __call__(self) -> None:
        """Free them."""
        self.count += 1
        if self._error:
            raise self._error


def test_a_store_that_cannot_be_opened_runs_nothing() -> None:
    """The error is told, no trial was called, and whoever listens is released."""
    adapter, events = FakeAdapter(), Events()
    store = Store(error=StoreError(Problem("store.foreign", "belongs to another program")))
    with pytest.raises(StoreError, match="another program"):
        carry(plan_of("a"), job_of(adapter, store=store, events=events))
    assert (adapter.requests, events.log) == ([], ["plan of 1", "closed"])


@pytest.mark.parametrize("paid", [True, False])
def test_a_store_that_fails_ends_the_run(paid: bool) -> None:
    """With its own error; the stages are freed once, and the run is not declared finished."""
    store, closing, events = Store(), Closing(), Events()

    def break_store(info: RunInfo) -> None:
        store.logs[0].error = StoreError(Problem("store.full", "no space"))

    job = job_of(FakeAdapter(), store=store, close=closing, events=events, on_begin=break_store)
    with pytest.raises(StoreError, match="no space"):
        carry(plan_of(*"abc", paid=paid), job)
    assert closing.count == 1
    assert store.logs[0].info.state is RunState.RUNNING
    assert events.log[-1] == "closed"
    assert not [step for step in events.log if step.startswith(("finished", "run"))]


def test_an_executor_that_breaks_ends_the_run() -> None:
    """What finished before is kept, the stages are freed, and the error is told."""
    store, closing = Store(), Closing()

    class Breaking:
        async def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> AsyncIterator[TrialResult]:
            async for trial in trials:
                if trial.case.id == "b":
                    raise RuntimeError("lost the cluster")
                yield await run_trial(trial)

    with pytest.raises(RuntimeError, match="lost the cluster"):
        carry(plan_of(*"abc"), job_of(FakeAdapter(), store=store, close=closing, executor=Breaking()))
    assert closing.count == 1
    assert [one.case_id for one in store.logs[0].results(ResultOrder.PLAN)] == ["a"]


def test_a_cancelled_run_keeps_what_is_done() -> None:
    """A caller that is itself cancelled frees the stages and loses no finished result."""
    store, closing = Store(), Closing()

    async def go() -> None:
        reached = asyncio.Event()
        adapter = Stopper(reached, "c")
        running = asyncio.create_task(carry_out(plan_of(*"abcd"), job_of(adapter, store=store, close=closing)))
        await asyncio.wait_for(reached.wait(), LONG_S)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert adapter.cancelled == ["c"]

    asyncio.run(go())
    assert closing.count == 1
    assert [one.case_id for one in store.logs[0].results(ResultOrder.PLAN)] == ["a", "b"]
    assert store.logs[0].info.state is RunState.RUNNING


@pytest.mark.parametrize("cases", [(), ("a",), ("a", "b", "c")], ids=len)
def test_the_stages_are_freed_once(cases: tuple[str, ...]) -> None:
    """After every trial, whether there were any or not."""
    closing = Closing()
    carry(plan_of(*cases), job_of(FakeAdapter(), close=closing))
    assert closing.count == 1


def test_a_job_may_have_nothing_to_free() -> None:
    """Stages that hold nothing need no closing."""
    assert carry(plan_of("a"), job_of(FakeAdapter(), close=None)).complete


def test_stages_that_cannot_be_freed_lose_no_result() -> None:
    """A session that fails to close at the end does not take away what has been measured."""
    store = Store()
    with pytest.raises(OSError, match="stuck"):
        carry(plan_of(*"abc"), job_of(FakeAdapter(), store=store, close=Closing(OSError("stuck"))))
    assert [one.case_id for one in store.logs[0].results(ResultOrder.PLAN)] == ["a", "b", "c"]


def test_a_broken_case_is_an_error_among_others() -> None:
    """What breaks in one trial is contained there, the whole way to the summary."""

    def answer(request: CallRequest, target: Target) -> Execution:
        if request.case_id == "b":
            raise RuntimeError("only this one")
        return Execution(output=request.input)

    outcome = carry(plan_of(*"abcd"), job_of(FakeAdapter(answer)))
    assert [one.verdict for one in outcome.view.results()] == [Verdict.PASS, Verdict.ERROR, Verdict.PASS, Verdict.PASS]
    assert outcome.view.summary.counts.errors == 1
    assert outcome.view.summary.validity[0].valid


@pytest.mark.parametrize("by", ["case", "target", "applicable target"])
def test_a_suite_of_which_nothing_was_selected_spoils_no_run(by: str) -> None:
    """With several suites a selection may concern one of them; the others are not part of the question."""
    adapter, target = FakeAdapter(), Target(id="skill")
    cell = Cell(DIRECT, adapter.identity(target), target)
    plans = []
    for name in ("one", "two"):
        other = name == "two"
        one = Case(
            id=f"of-{name}",
            checks=(Check(id="k", scorer="exact"),),
            targets=("another",) if other and by == "applicable target" else (),
        )
        selection = Selection(cases=("of-one",)) if by == "case" else Selection()
        cells = () if other and by == "target" else (cell,)
        plans.append(SuitePlan(Suite(id=name, format="f", root=f"/{name}", cases=(one,)), cells, selection))
    plan = make_plan(plans, [survey(one.suite, one.selection) for one in plans], Terms(runs=1))
    outcome = carry(plan, job_of(adapter))
    assert outcome.view.summary.counts.passed == 1
    assert decide(outcome.view, GateOptions()).exit_code is ExitCode.OK


def test_results_in_the_view_are_read_when_they_are_asked_for() -> None:
    """A reporter that wants none does not pay for any."""
    reads = 0

    class Counting(Log):
        def results(self, order: ResultOrder, group: GroupKey | None = None) -> Any:
            nonlocal reads
            reads += 1
            return super().results(order, group)

    class CountingStore(Store):
        async def begin(self, head: PlanHead, *, fresh: bool) -> Log:
            return Counting(head, RunInfo(run_id="r", state=RunState.RUNNING, started_at=0.0))

    outcome = carry(plan_of("a"), job_of(FakeAdapter(), store=CountingStore()))
    before = reads
    read: Callable[[], list[str]] = lambda: [one.case_id for one in outcome.view.results()]  # noqa: E731 - read twice
    assert (read(), read()) == (["a"], ["a"])
    assert reads == before + 2
