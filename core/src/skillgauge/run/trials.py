"""Run trials: the scheduler of this process, retries, time limits, and the stages that trials run on.

A *stage* is where a trial runs: the shared session of a target under direct call, or a fresh workspace with an
agent (`skillgauge.run.direct`). What runs on it reports facts; a failure is classified, retried if it says that this
can help, and graded otherwise.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace

from skillgauge_documents.immutables import immutable

from ..contract.executors import Keeper
from ..contract.providers import Clean
from ..contract.sandboxes import NoRoomError, SpoiledError
from ..errors import StoreError
from ..log import get_logger
from ..plugins.deadlines import is_cancelled
from ..plugins.guard import reason_of
from ..types.arms import ArmKind
from ..types.kept import KeptExecution
from ..types.results.trials import GivenUp, TrialResult, Verdict
from ..types.score import Score
from ..types.trial import LONGEST_PAUSE_S, Blame, Execution, Failure, FailureClass, Trial, TrialFacts
from ..types.usage import Usage
from .budget import Meter, OnSpent, current_meter, use_meter
from .grading import Grade, Grading, grade
from .keeping.executions import find, keep, laid_out
from .services import NotTried, Place, Services, lend
from .stage import OpenStage, Stage

log = get_logger(__name__)

BACKSTOP_S = 5.0
"""How much longer than its limit a trial may take before the kernel cuts it off itself. Adapters and engines
enforce the limit, because they can still report what the process said."""
SETTLE_S = 60.0
"""The same for a session, whose files are looked at after its end."""


@immutable
class RetryPolicy:
    """The conditions for another attempt after a failure: only if the failure says that this can help."""

    retries: int | None = None
    """Further attempts; `None`: two of an agent whose service failed, since minutes of work hang on it, else none."""
    base_s: float = 1.0
    """Wait after the k-th attempt is k times this."""
    max_s: float = 60.0
    """Longest wait; a server that asks for more is not retried. An agent's service may ask for `LONGEST_PAUSE_S`."""

    def delay_s(self, failure: Failure, attempt: int, kind: ArmKind = ArmKind.DIRECT) -> float | None:
        """Seconds to wait after attempt number `attempt` (from 1), or `None` if there is no further one."""
        retries, longest_s = self.retries or 0, self.max_s
        if kind is ArmKind.AGENT and failure.blame is Blame.INFRASTRUCTURE:
            retries, longest_s = 2 if self.retries is None else self.retries, max(longest_s, LONGEST_PAUSE_S)
        if not failure.retryable or attempt > retries:
            return None
        if failure.retry_after_s is None:
            return min(self.base_s * attempt, self.max_s)
        return failure.retry_after_s if failure.retry_after_s <= longest_s else None


Attempt = Callable[[Trial], Awaitable[TrialResult | Failure]]
"""Makes one attempt of a trial somewhere else; a failure says why there is no result."""


@immutable
class TrialRunner:
    """Runs one trial to its result, whatever happens on the way."""

    stages: Mapping[ArmKind, OpenStage]
    """How to open a stage, by kind of arm."""
    grading: Grading
    retry: RetryPolicy
    on_start: Callable[[Trial], None] | None = None
    """Told of each trial before its first attempt."""
    clean: Clean | None = None
    """Takes secrets out of a result."""
    services: Services | None = None
    """What the services behind engines bear; `None`: anything."""
    affords: Callable[[Trial, Sequence[Usage | None]], Awaitable[bool]] | None = None
    """Asked before a further attempt, with what those before have used, whether there is money for it."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits between attempts; replaceable so that tests need not wait."""
    attempt: Attempt | None = None
    """Makes each attempt in place of the stages."""
    keeper: Keeper | None = None
    """Keeps executions that were paid for until they are graded; `None`: nobody does."""
    on_spent: OnSpent | None = None
    """Told of what a trial has used each time that more of it is known, until the trial has its result."""
    meters: dict[str, Meter] = field(default_factory=dict)
    """The meter of each trial under way that may use something, by trial id."""

    def elsewhere(self, attempt: Attempt) -> TrialRunner:
        """The same, with each attempt made by somebody else: see `PortableRunTrial.elsewhere`."""
        return replace(self, attempt=attempt)

    async def __call__(self, trial: Trial) -> TrialResult:
        """Run a trial. Raises only what cancels the whole run."""
        if self.on_start:
            self.on_start(trial)
        if self.on_spent and (trial.paid or trial.arm.kind is ArmKind.AGENT or self.grading.judges):
            return await self._metered(trial, Meter(trial, self.on_spent))
        return await self._run(trial, None)

    async def _metered(self, trial: Trial, meter: Meter) -> TrialResult:
        self.meters[trial.trial_id] = meter
        use_meter(meter)
        try:
            return await self._run(trial, meter)
        finally:
            use_meter(None)
            del self.meters[trial.trial_id]

    async def _run(self, trial: Trial, meter: Meter | None) -> TrialResult:
        given_up: list[GivenUp] = []
        result = await self._attempt(trial)
        while failure := result.execution.failure:
            wait_s = await self._wait_s(trial, failure, result.execution.usage, given_up)
            if wait_s is None:
                break
            judges = meter.judges if meter else ()
            abandoned = GivenUp(
                failure=failure,
                usage=result.execution.usage,
                wait_s=wait_s,
                judges=judges,
                has_session=meter is None or not meter.is_kept or meter.has_session,
            )
            given_up.append(abandoned)
            if meter:
                meter.give_up(abandoned)
            log.info("trial.retry", trial_id=trial.trial_id, attempt=len(given_up), delay_s=wait_s)
            await self.sleep(wait_s)
            result = await self._attempt(trial)
        attempts = len(given_up) + 1
        if failure and not result.scores and meter and meter.judges:  # there are no scores that could name them
            execution = result.execution.model_copy(update={"user_usage": None})  # a part of what judges used
            result = result.model_copy(update={"execution": execution})
            given_up.append(GivenUp(failure=failure, wait_s=0.0, judges=meter.judges, has_session=False))
        if given_up:
            result = result.model_copy(update={"attempts": attempts, "given_up": tuple(given_up)})
        log.debug("trial.finished", trial_id=trial.trial_id, verdict=result.verdict)
        return self.clean(result) if self.clean else result

    async def _wait_s(
        self, trial: Trial, failure: Failure, usage: Usage | None, given_up: Sequence[GivenUp]
    ) -> float | None:
        """Return how long to wait before a further attempt; `None` if there is none, or no money for it."""
        wait_s = self.retry.delay_s(failure, len(given_up) + 1, trial.arm.kind)
        if wait_s is None or self.affords is None or await find(self.keeper, trial):
            return wait_s
        used = (usage, *[attempt.usage for attempt in given_up])
        return wait_s if await self.affords(trial, used) else None

    async def _attempt(self, trial: Trial) -> TrialResult:
        """One attempt, made when the service behind its engine has a place: the wait is nobody's time."""
        began = time.time()
        if trial.case.skip:
            execution = Execution(notes=(trial.case.skip,))
            return _result(trial, execution, Grade(Verdict.SKIPPED, None, (), trial.execution_id), began)
        ran: list[Execution] = []
        try:
            if (kept := await find(self.keeper, trial)) and (result := await self._of_kept(trial, kept)):
                return result
            if self.services is None or trial.arm.kind is ArmKind.DIRECT:
                return await self._on_stage(trial, began, ran)
            asker = _asker(trial)
            async with self.services.of(trial.runner).place(asker) as place:
                lend(place)
                return await self._on_stage(trial, began, ran, place)
        except NotTried as not_tried:
            execution = Execution(failure=not_tried.failure, usage=_used_so_far())
        except StoreError:
            raise  # nothing can be kept any more
        except (Exception, asyncio.CancelledError) as error:
            if is_cancelled():
                raise asyncio.CancelledError from error  # also if the clean-up after it failed in its own way
            log.warning("trial.broken", trial_id=trial.trial_id, case=trial.case.id, exc_info=True)
            failure = _failure_of(error, trial.runner.name)
            execution = Execution(failure=failure, usage=ran[0].usage if ran else _used_so_far())  # it was paid for
        return _result(trial, execution, await grade(trial, execution, self.grading), began)

    async def _on_stage(
        self, trial: Trial, began: float, ran: list[Execution], place: Place | None = None
    ) -> TrialResult:
        """Execute and grade; grading needs the stage but not the place, which a judge may need then."""
        if self.attempt:
            return await self._elsewhere(trial, self.attempt, place)
        async with self.stages[trial.arm.kind](trial) as stage:
            execution = await self._bounded(stage, trial)
            ran.append(execution)
            if place:
                place.leave(execution.failure)
            execution = await keep(self.keeper, trial, execution, stage, began, self.clean)
            return await self._graded(trial, execution, stage, stage.scores, began)

    async def _of_kept(self, trial: Trial, kept: KeptExecution) -> TrialResult | None:
        """Grade what an earlier attempt has executed; `None` if that is not possible. It asks no engine."""
        if meter := current_meter():
            meter.is_kept = True
        if self.attempt:
            return await self._elsewhere(trial, self.attempt, None)
        async with self.stages[trial.arm.kind](trial) as stage:
            if executed := await laid_out(kept, stage, trial):
                return await self._graded(trial, executed.execution, stage, executed.scores, kept.started_at)
        return None

    async def _graded(
        self, trial: Trial, execution: Execution, stage: Stage, scores: Sequence[Score], began: float
    ) -> TrialResult:
        if self.grading.is_graded(trial, execution):
            execution = await _prepared(stage, trial, execution)
        graded = await grade(trial, execution, self.grading, stage.workspace, scores)
        return _result(trial, execution, graded, began)

    async def _elsewhere(self, trial: Trial, attempt: Attempt, place: Place | None) -> TrialResult:
        """Have the attempt made by somebody else."""
        meter = current_meter()
        if meter and trial.paid and trial.arm.kind is ArmKind.AGENT and not meter.is_kept:
            meter.begin_session()  # unknown unless the executor reports it
        made = await attempt(trial)
        if isinstance(made, Failure):
            raise NotTried(made)
        if place:
            place.leave(made.execution.failure)
        return made

    async def _bounded(self, stage: Stage, trial: Trial) -> Execution:
        if (limit := trial.limits.timeout_s) is None:
            return await stage.execute(trial)
        started, direct = time.monotonic(), trial.arm.kind is ArmKind.DIRECT
        try:
            is_talk = trial.case.turns or trial.case.user  # with questions to judges between its turns
            between_s = self.grading.limit_s if is_talk else 0.0
            async with asyncio.timeout(limit + between_s + (BACKSTOP_S if direct else SETTLE_S)) as bound:
                return await stage.execute(trial)
        except TimeoutError:
            if not bound.expired():
                raise  # some time-out inside a plugin, which did not use up the trial's time
            return Execution(
                duration_s=time.monotonic() - started,
                usage=_used_so_far(),
                failure=Failure(
                    failure_class=FailureClass.TIMEOUT,
                    blame=Blame.TARGET if direct else Blame.INFRASTRUCTURE,
                    message=f"no answer within {limit:g} s",
                    retryable=direct,
                ),
            )


def _asker(trial: Trial) -> str:
    engine = f"engine {trial.runner.name!r}"
    return f"{engine} with model {trial.model!r}" if trial.model else engine


def _failure_of(error: BaseException, runner: str) -> Failure:
    """Return the failure of an attempt that an exception ended: a full disk is a matter of the set-up."""
    if isinstance(error, NoRoomError):
        return Failure.of_agent(FailureClass.SETUP, str(error))
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return Failure.of_agent(FailureClass.SETUP if is_full else FailureClass.INTERNAL, reason_of(error, runner))


def _used_so_far() -> Usage | None:
    """Return what the session of this task's attempt has used, for an attempt that does not report it itself."""
    meter = current_meter()
    return meter.session if meter else None


async def _prepared(stage: Stage, trial: Trial, execution: Execution) -> Execution:
    """Have the graders' files put in place, and say what of an agent was in their way."""
    try:
        moved = await stage.prepare_grading(trial)
    except SpoiledError as error:
        return execution.model_copy(update={"failure": Failure.of_spoiling(str(error))})
    note = f"set aside, because it lay where graders' files belong: {', '.join(moved[:5])}"
    return execution.model_copy(update={"notes": (*execution.notes, note)}) if moved else execution


def _result(trial: Trial, execution: Execution, graded: Grade, began: float) -> TrialResult:
    return TrialResult.of_known(
        **trial.told(TrialFacts),
        score_id=graded.score_id,
        case_id=trial.case.id,
        target_id=trial.target_id,
        arm=trial.arm.name,
        runner=trial.runner.name,
        tags=trial.case.tags,
        cluster=trial.case.cluster,
        weight=trial.case.weight,
        repeat_rule=trial.case.repeat_rule,
        verdict=graded.verdict,
        value=graded.value,
        scores=graded.scores,
        execution=execution,
        started_at=began,
    )
