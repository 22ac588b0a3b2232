"""The scorers of a run: how often they are made, when, on which thread, and what becomes of their connections."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, ClassVar

import pytest
from pydantic import field_validator

from skillgauge.contract.providers import Provider, hookimpl
from skillgauge.contract.scorers import ScoreContext, Scorer
from skillgauge.errors import PluginError, StoreError
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.plugins.kinds import Resolved
from skillgauge.plugins.registry import Registry
from skillgauge.run import scorers as module
from skillgauge.run.budget import BudgetLimits
from skillgauge.run.direct import DirectStages
from skillgauge.run.grading import Grading, grade
from skillgauge.run.keeping.memory import MemoryStore
from skillgauge.run.pipeline import Job, carry_out
from skillgauge.run.scorers import Scorers
from skillgauge.types.arms import DIRECT, ArmKind
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, Suite, Target
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, PlanHead
from skillgauge.types.usage import Usage
from skillgauge_documents.frozen import Frozen
from skillgauge_testkit.fakes import FakeAdapter, FakeSandbox
from skillgauge_testkit.registries import registry_of


class Options(Frozen):
    """Counts how often it is validated."""

    value: str = ""
    validated: ClassVar[int] = 0

    @field_validator("value")
    @classmethod
    def _count(cls, value: str) -> str:
        cls.validated += 1
        return value


class Counting:
    """Counts its objects and remembers who made them."""

    version = "1"
    made: ClassVar[list[str]] = []
    threads: ClassVar[list[threading.Thread]] = []
    alive: ClassVar[weakref.WeakSet[Counting]] = weakref.WeakSet()

    def __init__(self, options: Options) -> None:
        if options.value == "broken":
            raise OSError("no display")
        self.value = options.value
        self.made.append(options.value)
        self.threads.append(threading.current_thread())
        self.alive.add(self)

    async def score(self, context: ScoreContext) -> Score:
        """Pass what has the right value."""
        return Score.passed() if self.value == context.case.id or not self.value else Score.failed("another value")


@pytest.fixture(autouse=True)
def _forget() -> None:
    """Each test counts from nothing."""
    Options.validated = 0
    Counting.made.clear()
    Counting.threads.clear()
    Counting.alive.clear()


def scorers_of(*providers: Provider[Scorer]) -> Scorers:
    """The scorers of a run with these plugins, by default the counting one."""
    announcing = ModuleType("scorers_of_a_test")

    @hookimpl
    def skillgauge_scorers() -> Iterator[Provider[Scorer]]:
        yield from providers or (Provider("counting", Counting, "Counts.", options=Options),)

    vars(announcing)["skillgauge_scorers"] = skillgauge_scorers
    return Scorers(registry_of(announcing))


def plan_of(scorers: Scorers, *checks: Check, runs: int = 1, paid: bool = False) -> Plan:
    """A plan of one case for each of these checks, which passes if the check has its id as value."""
    target = Target(id="skill")
    cases = tuple(Case(id=str(number), input=number, checks=(check,)) for number, check in enumerate(checks))
    suite = Suite(id="s", format="f", root="/s", cases=cases, targets=(target,))
    cell = Cell(DIRECT, FakeAdapter().identity(target), target, paid=paid)
    found = survey(suite, Selection())
    assert list(scorers.inspect(found.checks)) == []
    return make_plan([SuitePlan(suite, (cell,))], [found], Terms(runs=runs))


def job_of(scorers: Scorers, adapter: FakeAdapter | None = None, **options: Any) -> Job:
    """A job that calls a fake target and grades with these."""
    stages = DirectStages(lambda target: adapter or FakeAdapter(), FakeSandbox())
    defaults: dict[str, Any] = {"figures": lambda summary: {}, "close": stages.close, "concurrency": 2}
    return Job(stages={ArmKind.DIRECT: stages}, grading=Grading(scorers), **(defaults | options))


def counting(value: str = "", number: int = 0) -> Check:
    """A check of the counting scorer."""
    return Check(id=f"k{number}", scorer="counting", options={"value": value} if value else {}, weight=number + 1)


# --- making -----------------------------------------------------------------------------------------------


def test_made_once_for_checks_that_mean_the_same() -> None:
    """Twenty trials of two distinct checks make two scorers and validate two options, whatever ids and weights."""
    scorers = scorers_of()
    plan = plan_of(scorers, *(counting("x" if number % 2 else "y", number) for number in range(10)), runs=2)
    asyncio.run(carry_out(plan, job_of(scorers)))
    assert sorted(Counting.made) == ["x", "y"]
    assert Options.validated == 2


def test_looked_up_once_for_all_checks_that_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite of thousands of checks asks for each of its scorers a single time."""
    asked: list[str] = []
    resolve = Registry.resolve

    def noted(self: Registry, kind: str, name: str) -> Resolved:
        asked.append(name)
        return resolve(self, kind, name)

    monkeypatch.setattr(Registry, "resolve", noted)
    plan_of(scorers_of(), *(counting(str(number)) for number in range(3)))
    assert asked == ["counting"]


def test_made_before_anything_runs_and_beside_the_event_loop() -> None:
    """A factory that blocks until the loop has gone on does not hold it up, and no trial starts before it is done."""
    gate = threading.Event()
    started: list[str] = []

    class Slow(Counting):
        def __init__(self, options: Options) -> None:
            assert gate.wait(60), "the event loop stood still"
            assert not started
            super().__init__(options)

    class Events:
        """Lets the factory go when the loop is free."""

        def __getattr__(self, name: str) -> Callable[..., None]:
            if name == "trial_started":
                return lambda trial: started.append(trial.case.id)
            return lambda *_: None

    async def go() -> None:
        scorers = scorers_of(Provider("counting", Slow, "Slow.", options=Options))
        plan = plan_of(scorers, counting())
        asyncio.get_running_loop().call_later(0.01, gate.set)
        outcome = await carry_out(plan, job_of(scorers, events=Events()))
        assert outcome.view.summary.groups[0].counts.passed == 1

    asyncio.run(go())
    assert started == ["0"]
    assert Counting.threads != [threading.main_thread()]


def test_what_cannot_be_made_stops_the_run_before_it_begins() -> None:
    """Every scorer that fails is told, and the store has not heard of the run."""

    class Unversioned:
        version = 3

        async def score(self, context: ScoreContext) -> Score:
            raise AssertionError("never asked")

    class Unopened(MemoryStore):
        async def begin(self, head: PlanHead, *, fresh: bool) -> Any:
            raise AssertionError("the run has begun")

    numbered: Any = Unversioned
    scorers = scorers_of(
        Provider("counting", Counting, "Counts.", options=Options), Provider("numbered", numbered, "Has no version.")
    )
    plan = plan_of(scorers, counting("broken"), Check(id="k", scorer="numbered"), counting("1"))
    with pytest.raises(PluginError) as caught:
        asyncio.run(carry_out(plan, job_of(scorers, store=Unopened())))
    first, second = (problem.message for problem in caught.value.problems)
    assert "could not be made: OSError: no display" in first
    assert "failed in version: TypeError: answered with int instead of str" in second


@pytest.mark.slow
def test_few_of_many_objects_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit an object lives as long as its trial; verdicts are the same."""
    monkeypatch.setattr(module, "KEPT", 3)
    scorers = scorers_of()
    plan = plan_of(scorers, *(counting(str(number)) for number in range(20)))
    most = 0

    def look(result: TrialResult) -> None:
        nonlocal most
        gc.collect()
        most = max(most, len(Counting.alive))

    outcome = asyncio.run(carry_out(plan, job_of(scorers, progress=look)))
    assert outcome.view.summary.groups[0].counts.passed == 20
    assert len(Counting.made) == 20
    assert 3 <= most <= 3 + 2 + 2  # kept; of the trials under way; of results on their way
    assert threading.main_thread() not in Counting.threads


def test_a_failed_execution_makes_no_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id has the version of the class, and no object is made for it."""
    monkeypatch.setattr(module, "KEPT", 1)
    scorers = scorers_of()
    checks = (counting("0"), counting("1"))
    trials = list(plan_of(scorers, *checks).trials())
    failure = Failure(failure_class=FailureClass.CRASH, blame=Blame.TARGET, message="no")

    async def go() -> list[str]:
        await scorers.open()
        made = len(Counting.made)
        ids = []
        for one in trials:
            for execution in (Execution(failure=failure), Execution()):
                graded = await grade(one, execution, Grading(scorers))
                ids.append(graded.score_id)
                made += one.ordinal == 1 and execution.failure is None
                assert len(Counting.made) == made
        await scorers.close()
        return ids

    kept_failed, kept, other_failed, other = asyncio.run(go())
    assert kept_failed == kept
    assert other_failed == other


# --- connections ------------------------------------------------------------------------------------------


class Server:
    """Counts connections that were opened to it, and those that were closed again."""

    def __init__(self) -> None:
        self.opened = self.closed = 0
        self.port = 0
        self.idle = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Echo lines until the other side is gone."""
        self.opened += 1
        self.idle.clear()
        while line := await reader.readline():
            writer.write(line)
        writer.close()
        self.closed += 1
        if self.closed == self.opened:
            self.idle.set()


@asynccontextmanager
async def server() -> AsyncIterator[Server]:
    """A real server on loopback."""
    counts = Server()
    listening = await asyncio.start_server(counts.serve, "127.0.0.1", 0)
    async with listening:
        counts.port = listening.sockets[0].getsockname()[1]
        yield counts


class Connected:
    """Asks a server by a connection of the run."""

    version = "1"
    port: ClassVar[int] = 0
    closing: ClassVar[Exception | None] = None
    calls: ClassVar[list[str]] = []
    stop: ClassVar[asyncio.Event | None] = None
    """What the third case sets, to hang then."""

    async def open(self) -> None:
        """Connect."""
        self.calls.append("open")
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._turn = asyncio.Lock()

    async def close(self) -> None:
        """Disconnect."""
        self.calls.append("close")
        self._writer.close()
        await self._writer.wait_closed()
        if self.closing:
            raise self.closing

    async def score(self, context: ScoreContext) -> Score:
        """Pass if the server answers."""
        if self.stop and context.case.id == "2":
            self.stop.set()
            await asyncio.Event().wait()
        async with self._turn:
            self._writer.write(f"{context.case.id}\n".encode())
            answer = await self._reader.readline()
        usage = Usage(total_tokens=100)
        passed = answer.decode().strip() == context.case.id
        return Score.passed().model_copy(update={"usage": usage}) if passed else Score.failed("no echo")


CONNECTED: Provider[Scorer] = Provider("connected", Connected, "Asks a server.")
CHECKS = tuple(Check(id=f"k{number}", scorer="connected") for number in range(6))


class Unwritable(MemoryStore):
    """Loses the run when the first result is to be written."""

    async def begin(self, head: PlanHead, *, fresh: bool) -> Any:
        """A log that cannot be written to."""
        log = await super().begin(head, fresh=fresh)

        async def commit(results: object, *, paid: bool) -> None:
            raise StoreError("disk full")

        vars(log)["commit"] = commit
        return log


@pytest.mark.parametrize("end", ["finished", "stopped", "budget", "store", "unclosed"])
def test_a_connection_is_opened_once_and_closed_once(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a run of six trials ends, the server has seen one connection, and its end."""
    monkeypatch.setattr(Connected, "closing", OSError("lost") if end == "unclosed" else None)
    Connected.calls.clear()

    async def go() -> None:
        stop = asyncio.Event()
        scorers = scorers_of(CONNECTED)
        plan = plan_of(scorers, *CHECKS, paid=end == "budget")
        options: dict[str, Any] = {"concurrency": 1}
        if end == "stopped":
            monkeypatch.setattr(Connected, "stop", stop)
        elif end == "budget":
            options["budget"] = BudgetLimits(tokens=150)
        elif end == "store":
            options["store"] = Unwritable()
        async with server() as counts:
            Connected.port = counts.port
            job = job_of(scorers, **options)
            if end == "store":
                with pytest.raises(StoreError):
                    await carry_out(plan, job, stop)
            else:
                outcome = await carry_out(plan, job, stop)
                assert outcome.complete is (end in ("finished", "unclosed"))
                assert {result.verdict for result in outcome.view.results()} == {Verdict.PASS}
            await counts.idle.wait()
            assert (counts.opened, counts.closed) == (1, 1)

    asyncio.run(go())
    assert Connected.calls == ["open", "close"]


@pytest.mark.parametrize("reason", [ConnectionError("nobody listens"), SystemExit("no server")])
def test_what_cannot_be_opened_stops_the_run_and_closes_what_is_open(reason: BaseException) -> None:
    """The error names scorer and reason, also of one that would end the process; what was open already is closed."""

    class Refused(Connected):
        async def open(self) -> None:
            raise reason

    Connected.calls.clear()
    scorers = scorers_of(CONNECTED, Provider("refused", Refused, "Cannot be opened."))
    plan = plan_of(scorers, CHECKS[0], Check(id="k", scorer="refused"))

    async def go() -> None:
        async with server() as counts:
            Connected.port = counts.port
            with pytest.raises(PluginError, match=f"'refused' of .* failed in open: {type(reason).__name__}: {reason}"):
                await carry_out(plan, job_of(scorers))
            await counts.idle.wait()

    asyncio.run(go())
    assert Connected.calls == ["open", "close"]


def test_a_stop_waits_for_no_connection() -> None:
    """Ctrl-C while a scorer hangs in `open` ends the run; nothing has run."""
    stop = asyncio.Event()

    class Hanging(Connected):
        async def open(self) -> None:
            stop.set()
            await asyncio.Event().wait()

    async def go() -> None:
        scorers = scorers_of(Provider("hanging", Hanging, "Hangs."))
        adapter = FakeAdapter()
        outcome = await carry_out(plan_of(scorers, Check(id="k", scorer="hanging")), job_of(scorers, adapter), stop)
        assert not outcome.complete
        assert list(outcome.view.results()) == []

    asyncio.run(asyncio.wait_for(go(), 60))


def test_a_connection_of_one_use_is_closed_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit, `open` and `close` enclose one trial."""

    class Optional(Connected):
        def __init__(self, options: Options) -> None:
            """Options give each check an object of its own."""

    monkeypatch.setattr(module, "KEPT", 1)
    Connected.calls.clear()
    scorers = scorers_of(Provider("optional", Optional, "Asks a server.", options=Options))
    checks = [Check(id="k", scorer="optional", options={"value": str(number)}) for number in range(3)]

    async def go() -> None:
        plan = plan_of(scorers, *checks)
        async with server() as counts:
            Connected.port = counts.port
            outcome = await carry_out(plan, job_of(scorers, concurrency=1))
            assert outcome.view.summary.groups[0].counts.passed == 3
            await counts.idle.wait()

    asyncio.run(go())
    assert Connected.calls == ["open", "open", "close", "open", "close", "close"]
