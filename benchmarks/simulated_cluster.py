"""What `benchmarks.scale` makes up: workers, provider, agent, database and clock of a large run."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from contextvars import Context
from dataclasses import dataclass, field
from math import log
from typing import Any, cast

from core.tests.run.jumping import JumpingLoop

from skillgauge.api import Blame, Execution, Failure, FailureClass, GivenUp, Usage
from skillgauge.api.run import LocalExecutor
from skillgauge.contract.executors import PortableRunTrial, Results, RunTrial
from skillgauge.contract.scorers import ScoreContext
from skillgauge.contract.stores import Claimed, RunQuery
from skillgauge.run.budget import current_meter
from skillgauge.run.grading import Grading
from skillgauge.run.keeping.memory import MemoryLog
from skillgauge.run.scorers import BoundScorer, Scorers
from skillgauge.run.trials import RetryPolicy, TrialRunner
from skillgauge.types.arms import ArmKind
from skillgauge.types.kept import KeptExecution
from skillgauge.types.results.runs import RunInfo, RunState, RunView
from skillgauge.types.results.trials import TrialResult, Unfinished, Verdict
from skillgauge.types.score import Score
from skillgauge.types.trial import PlanHead, Trial
from skillgauge_testkit.fakes import FakeScorer, FakeScorers, FakeWorkspace

DAY_S = 86_400.0
SIGMA = 0.8
"""Of the logarithm of a session's time: one in twenty takes more than 2.7 times the mean."""
STRAGGLERS, STRAGGLE = 0.01, 5
"""One session in a hundred takes five times as long."""
LIMIT_S = 3_600.0
REFUSAL_S = 1.0
"""The time in which a provider says that it is too much."""
REPLACED_S = 60.0
"""The time in which another worker takes the place of one that died."""
USD_A_SECOND = 0.30 / 180
DIED = Failure(failure_class=FailureClass.KILLED, blame=Blame.INFRASTRUCTURE, message="the worker died", retryable=True)


@dataclass(frozen=True)
class Setting:
    """What is simulated."""

    name: str
    workers: int = 1_000
    """Sessions under way at once, one in each worker: `--concurrency`."""
    trials: int = 1_000_000
    mean_s: float = 180.0
    grading_s: float = 10.0
    lives_s: float = DAY_S
    """Average life of a worker."""
    provider: int | None = None
    """Sessions that the provider bears at once, and refuses more of; `None`: any number."""
    write_s: float = 0.00076
    """Seconds of a write, with the way to the database and back."""
    keeps: bool = True
    """Whether executions are kept before they are graded."""
    budget: float = 2.0
    """The amount of `--max-cost`, of what the whole run is expected to cost."""
    seed: int = 1

    @property
    def places(self) -> int:
        """Sessions that may be under way at once, whoever limits them."""
        return min(self.workers, self.provider or self.workers)

    @property
    def expected_usd(self) -> float:
        """The cost of all sessions."""
        return self.trials * self.mean_s * USD_A_SECOND

    def duration_s(self, chance: random.Random) -> float:
        """The time of a session."""
        mean_s = self.mean_s / (1 + STRAGGLERS * (STRAGGLE - 1))
        drawn = chance.lognormvariate(log(mean_s) - SIGMA**2 / 2, SIGMA)
        return drawn * STRAGGLE if chance.random() < STRAGGLERS else drawn


@dataclass
class Tally:
    """What has happened."""

    setting: Setting
    finished: bytearray
    """By ordinal, how often its session came to its end."""
    committed: bytearray
    """By ordinal, how often a result was kept."""
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    useful_s: float = 0.0
    repeated_usd: float = 0.0
    spent_usd: float = 0.0
    deaths: int = 0
    refused: int = 0
    most_at_once: int = 0
    writes: Counter[str] = field(default_factory=Counter)
    by_minute: Counter[int] = field(default_factory=Counter)
    """Writes of each minute."""
    last_begun_s: float = 0.0
    ended_s: float = 0.0

    @classmethod
    def of(cls, setting: Setting) -> Tally:
        """Begin to count."""
        return cls(setting, bytearray(setting.trials), bytearray(setting.trials))

    @property
    def repeated(self) -> int:
        """Sessions that had come to their end and were paid for again."""
        return sum(self.finished) - sum(map(bool, self.finished))

    @property
    def efficiency(self) -> float:
        """The part of the places' time that sessions and gradings took which counted."""
        return self.useful_s / (self.setting.places * self.ended_s)

    def end_session(self, trial: Trial, usd: float) -> None:
        """Count a session that came to its end."""
        self.spent_usd += usd
        if self.finished[trial.ordinal]:
            self.repeated_usd += usd
        self.finished[trial.ordinal] += 1

    def write(self, what: str) -> None:
        """Count a write."""
        self.writes[what] += 1
        self.by_minute[int(now() // 60)] += 1


class Provider:
    """Bears so many sessions at once, and refuses more."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._bears = tally.setting.provider
        self._under_way = 0

    async def session(self, duration_s: float) -> bool:
        """Take the time of a session; tells whether it was not refused."""
        if self._bears is not None and self._under_way >= self._bears:
            self._tally.refused += 1
            await asyncio.sleep(REFUSAL_S)
            return False
        self._under_way += 1
        self._tally.most_at_once = max(self._tally.most_at_once, self._under_way)
        try:
            await asyncio.sleep(duration_s)
        finally:
            self._under_way -= 1
        return True


class AgentStage:
    """The place of one session in a worker."""

    scores = ()

    def __init__(self, tally: Tally, provider: Provider, chance: random.Random) -> None:
        self.workspace = FakeWorkspace()
        self._tally = tally
        self._provider = provider
        self._chance = chance

    async def furnish(self, trial: Trial) -> None:
        """Put nothing in place."""

    async def execute(self, trial: Trial) -> Execution:
        """Take the time of a session, and cost as much as it takes."""
        if meter := current_meter():
            meter.begin_session()
        duration_s = self._tally.setting.duration_s(self._chance)
        self._tally.last_begun_s = now()
        if not await self._provider.session(duration_s):
            return Execution(failure=Failure.of_agent(FailureClass.RATE_LIMITED, "too many sessions at once"))
        usd = duration_s * USD_A_SECOND
        self._tally.end_session(trial, usd)
        return Execution(text="done", duration_s=duration_s, usage=Usage(total_tokens=1, cost_usd=usd))

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Put nothing in place."""
        return ()


class Cluster:
    """An executor with workers that die: each attempt is made by one, as by a process on another machine."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._setting = tally.setting
        self._chance = random.Random(self._setting.seed)
        self._provider = Provider(tally)
        self._free: asyncio.Queue[float] = asyncio.Queue()
        """Workers without an attempt, each as the moment of its death."""

    def run(self, trials: AsyncIterator[Trial], run_trial: RunTrial) -> Results:
        """See `Executor.run`."""
        portable = cast("PortableRunTrial", run_trial)

        def spent(trial: Trial, attempts: tuple[GivenUp, ...]) -> None:
            portable.spent(trial.trial_id, attempts[-1])

        self._runner = TrialRunner(
            {ArmKind.AGENT: self._stage},
            grading_of(self._setting),
            retry=RetryPolicy(0),
            keeper=portable if self._setting.keeps else None,
            on_spent=spent,
        )
        for _ in range(self._setting.workers):
            self._free.put_nowait(self._death())
        return LocalExecutor(portable.concurrency).run(trials, portable.elsewhere(self._attempt))

    async def _attempt(self, trial: Trial) -> TrialResult | Failure:
        dies_at = await self._free.get()
        while dies_at <= now():  # with nothing to do, so that nobody minds
            dies_at += self._life_s()
        made = asyncio.create_task(self._runner(trial), context=Context())
        try:
            await asyncio.wait((made,), timeout=dies_at - now())
            if made.done():
                self._free.put_nowait(dies_at)
                return made.result()
        finally:
            made.cancel()
        await asyncio.gather(made, return_exceptions=True)
        self._tally.deaths += 1
        asyncio.get_running_loop().call_later(REPLACED_S, lambda: self._free.put_nowait(self._death()))
        return DIED

    @asynccontextmanager
    async def _stage(self, trial: Trial) -> AsyncIterator[AgentStage]:
        yield AgentStage(self._tally, self._provider, self._chance)

    def _life_s(self) -> float:
        return self._chance.expovariate(1 / self._setting.lives_s)

    def _death(self) -> float:
        return now() + self._life_s()


class Database(MemoryLog):
    """A run in a database that makes one write at a time, each of which takes a while; it forgets what is over."""

    def __init__(self, head: PlanHead, info: RunInfo, tally: Tally) -> None:
        super().__init__(head, info)
        self._tally = tally
        self._connection = asyncio.Lock()
        self._waiting: dict[str, KeptExecution] = {}

    async def _write(self, what: str) -> None:
        async with self._connection:
            await asyncio.sleep(self._tally.setting.write_s)
        self._tally.write(what)

    async def claim(self, trials: Sequence[Trial], cases: Sequence[Any] = ()) -> Claimed:
        """See `RunLog.claim`."""
        await self._write("claim")
        return await super().claim(trials)

    async def spend(self, unfinished: Sequence[Unfinished]) -> None:
        """See `RunLog.spend`."""
        await self._write("spend")

    async def keep(self, kept: KeptExecution) -> None:
        """See `KeepingLog.keep`."""
        await self._write("keep")
        self._waiting[kept.trial_id] = kept

    async def kept(self, trial: Trial) -> KeptExecution | None:
        """See `KeepingLog.kept`."""
        return self._waiting.get(trial.trial_id)

    async def commit(self, results: Sequence[TrialResult], *, paid: bool) -> None:
        """See `RunLog.commit`."""
        await self._write("commit")
        for result in results:
            self._tally.committed[result.ordinal] += 1
            self._tally.verdicts[result.verdict] += 1
            if result.verdict is Verdict.PASS:
                self._tally.useful_s += (result.execution.duration_s or 0.0) + self._tally.setting.grading_s
            self._waiting.pop(result.trial_id, None)
            self._under_way.pop(result.trial_id, None)
            del self._claims[result.trial_id]


class Databases:
    """A store with one run."""

    durable = True

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    async def begin(self, head: PlanHead, *, fresh: bool) -> Database:
        """See `Store.begin`."""
        return Database(head, RunInfo(run_id="run", state=RunState.RUNNING, started_at=0.0), self._tally)

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`; nobody asks."""
        return iter(())

    async def close(self) -> None:
        """Nothing to free."""


class SimulatedLoop(JumpingLoop):
    """The jumping loop, in which work for a thread is done at once, so that the clock cannot jump meanwhile."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Call the function here."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            done.set_exception(error)
        return done


def now() -> float:
    """Return the simulated time, in seconds."""
    return asyncio.get_running_loop().time()


def grading_of(setting: Setting) -> Grading:
    """Grading by a check that takes its time, and is content."""

    async def content(context: ScoreContext) -> Score:
        await asyncio.sleep(setting.grading_s)
        return Score.passed()

    bound = BoundScorer("exact", FakeScorer(content))
    return Grading(cast("Scorers", FakeScorers(lambda check: bound)))
