"""Spending of a run: reserved before a trial starts, metered while it runs, settled when it has ended.

An execution names its usage when it has come to its end. Until then the meter of its trial holds what engine and judges
have reported so far, and hands it on for the ledger to keep, so that an attempt which is cut off counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Protocol

from skillgauge_documents.characters import cut
from skillgauge_documents.immutables import immutable

from ..types.results.trials import GivenUp, TrialResult, Unfinished
from ..types.trajectory import TrajectoryEvent
from ..types.trial import Failure, FailureClass, Trial
from ..types.usage import BudgetShare, BudgetStanding, SharedBudget, Usage

CUT_OFF = "cut off: the run ended before this attempt did, so of an answer under way not every token is counted"
_LONGEST_STEP = 100
_FIRST_LOOK_S, _LONGEST_LOOK_S = 1.0, 10.0
"""How long to wait before looking again whether other runs have left something of a shared budget."""

OnSpent = Callable[[Trial, tuple[GivenUp, ...]], None]
"""Takes what a trial has used since it was claimed; a later call for the same trial replaces an earlier one."""


class Hold(Protocol):
    """`BudgetingStore.hold` for one run and its budget."""

    async def __call__(self, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        """Put a share in place of the earlier one."""


@immutable
class BudgetLimits:
    """The amounts that the user allows for one run, however many commands it takes; `None` is no limit."""

    cost_usd: float | None = None
    tokens: int | None = None
    shared: SharedBudget | None = None
    """What it may spend together with other runs."""

    @property
    def are_given(self) -> bool:
        """True if there is any limit."""
        return self.cost_usd is not None or self.tokens is not None or self.shared is not None


class Budget:
    """Lets a paid trial start only if what is spent, reserved and expected of it stays within the limits.

    A trial is expected to cost as much as the dearest so far. Nothing is known before the first has ended, so the first
    runs alone. What a trial turns out to have cost can exceed what was reserved; then no further one starts.

    Args:
        limits: what the user allows.
        done: results of earlier commands of the run, whose trials will not run again.
        unfinished: what earlier commands used for trials that have no result, and will run again.
        hold: asked where a budget is shared; it may be asked at any time.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        done: Iterable[TrialResult] = (),
        unfinished: Iterable[Unfinished] = (),
        hold: Hold | None = None,
    ) -> None:
        self._limits = limits
        self._hold = hold
        self._holding = asyncio.Lock()
        """One share after another, so that an older one never comes last."""
        self._given_up_usd: dict[str, float] = {}
        """Spent by earlier attempts of trials under way, by trial id."""
        self.standing: BudgetStanding | None = None
        """The state of the shared budget when something did not fit into it for good."""
        self._done: set[str] = set()
        self._spent_usd = 0.0
        self._spent_tokens = 0
        self._priced_tokens = 0
        self._unpriced_tokens = 0
        self._dearest_usd = 0.0
        self._most_tokens = 0
        self._under_way: set[str] = set()
        self._known = False
        for result in done:
            self._done.add(result.trial_id)
            self._count(result)
        self._unfinished: dict[str, list[Usage | None]] = {}
        for trial in unfinished:
            usages = [usage for attempt in trial.attempts for usage in attempt.usages]
            self._add(usages)
            self._unfinished.setdefault(trial.trial_id, []).extend(usages)
        self._settled = asyncio.Event()
        self._closed = False
        self.exhausted = False
        """Whether a trial was held back for good."""

    async def admit(self, trial: Trial) -> bool:
        """Wait until it is clear whether a trial may start; a paid one that may has its cost reserved."""
        if not trial.paid or trial.trial_id in self._done:
            return True
        if self._limits.are_given and not await self._can_start():
            self.exhausted = True
            return False
        self._under_way.add(trial.trial_id)
        return True

    def settle(self, result: TrialResult) -> bool:
        """Take what a trial has cost into account; what is unknown counts as nothing.

        Args:
            result: of the trial, with what earlier commands used for it.

        Returns:
            Whether it was a paid one.
        """
        if result.trial_id not in self._under_way:
            return False
        self._under_way.remove(result.trial_id)
        self._given_up_usd.pop(result.trial_id, None)
        self._add(self._unfinished.pop(result.trial_id, ()), times=-1)  # the result names these attempts as well
        self._count(result)
        self._settled.set()
        return True

    def _count(self, result: TrialResult) -> None:
        self._add(result.usages)
        self._known = True

    def _add(self, usages: Sequence[Usage | None], times: int = 1) -> None:
        cost, tokens = _used(usages)
        unpriced = sum(usage.all_tokens for usage in usages if usage and usage.cost_usd is None)
        self._spent_usd += times * cost
        self._spent_tokens += times * tokens
        self._unpriced_tokens += times * unpriced
        self._priced_tokens += times * (tokens - unpriced)
        self._dearest_usd = max(self._dearest_usd, cost)
        self._most_tokens = max(self._most_tokens, tokens)

    @property
    def _unpriced_usd(self) -> float:
        """Price of tokens that came without one, as those of a session that was cut off: in proportion to the others.

        Before any tokens have a price it is unknown, and counts as nothing.
        """
        return self._spent_usd * self._unpriced_tokens / self._priced_tokens if self._priced_tokens else 0.0

    async def affords_retry(self, trial: Trial, used: Sequence[Usage | None]) -> bool:
        """Tell whether a trial may make one more attempt.

        Args:
            trial: which.
            used: by its attempts so far.
        """
        if trial.trial_id not in self._under_way:
            return True
        self._given_up_usd[trial.trial_id] = _used(used)[0]
        if self._affordable(len(self._under_way), *_used(used)):
            standing = await self._ask(0)
            if standing is None or standing.fits:
                return True
            self.standing = standing
        self.exhausted = True
        return False

    async def share(self) -> None:
        """Tell the other runs of a shared budget what this one has spent."""
        if self._hold:
            async with self._holding:
                await self._hold(self._share(0), must_fit=False)

    def close(self) -> None:
        """Admit nothing that is paid any more: the run is being stopped, and what is under way will not be settled."""
        self._closed = True
        self._settled.set()

    async def _can_start(self) -> bool:
        look_s = _FIRST_LOOK_S
        while True:
            self._settled.clear()
            standing = None
            if (self._known or not self._under_way) and self._affordable(len(self._under_way) + 1):
                standing = await self._ask(1)
                if standing is None or standing.fits:
                    return not self._closed
            if self._closed:
                return False
            if self._settled.is_set():
                continue  # a trial has ended while the store was asked
            has_others = standing is not None and standing.under_way > 0
            if not self._under_way and not has_others:
                self.standing = standing
                return False
            with suppress(TimeoutError):
                async with asyncio.timeout(look_s if has_others else None):
                    await self._settled.wait()
            look_s = min(2 * look_s, _LONGEST_LOOK_S)

    async def _ask(self, more: int) -> BudgetStanding | None:
        """Hold further sessions of a shared budget; `None` if there is none."""
        if self._hold is None:
            return None
        async with self._holding:
            return await self._hold(self._share(more), must_fit=True)

    def _share(self, more: int) -> BudgetShare:
        given_up_usd = sum(self._given_up_usd.values())
        return BudgetShare(
            spent_usd=max(0.0, self._spent_usd + self._unpriced_usd + given_up_usd),
            sessions=len(self._under_way) + more,
            dearest_usd=self._dearest_usd if self._known else None,
        )

    def _affordable(self, sessions: int, used_usd: float = 0.0, used_tokens: int = 0) -> bool:
        """Tell whether as many sessions, none of them settled, stay within the limits, with the usage so far."""
        spent_usd = self._spent_usd + self._unpriced_usd + used_usd
        spent_tokens = self._spent_tokens + used_tokens
        return _is_within(self._limits.cost_usd, spent_usd, sessions * self._dearest_usd) and _is_within(
            self._limits.tokens, spent_tokens, sessions * self._most_tokens
        )


def _is_within(limit: float | None, spent: float, expected: float) -> bool:
    """Tell whether something is left of a limit, and what is expected does not exceed it."""
    return limit is None or (spent < limit and spent + expected <= limit)


def _used(usages: Iterable[Usage | None]) -> tuple[float, int]:
    """Dollars and tokens of all of them."""
    reported = [usage for usage in usages if usage]
    return sum(usage.cost_usd or 0.0 for usage in reported), sum(usage.all_tokens for usage in reported)


_current: ContextVar[Meter | None] = ContextVar("meter", default=None)


def current_meter() -> Meter | None:
    """Return the meter of the trial that this task works for; `None` if it is not metered."""
    return _current.get()


def use_meter(meter: Meter | None) -> None:
    """Have this task, and those that it starts from now on, work for a trial with this meter."""
    _current.set(meter)


class Meter:
    """Adds up what a trial has used since it was claimed.

    Args:
        trial: which.
        on_spent: called whenever there is more.
    """

    def __init__(self, trial: Trial, on_spent: OnSpent) -> None:
        self._trial = trial
        self._on_spent = on_spent
        self._given_up: list[GivenUp] = []
        self._has_session = False
        self._session: Usage | None = None
        self._judges: list[Usage | None] = []
        self._elsewhere: GivenUp | None = None
        self.is_kept = False
        """Whether the attempt under way begins with an execution that was kept, so that it needs no session."""

    @property
    def has_session(self) -> bool:
        """True if the attempt under way has begun a session, as far as is known."""
        return self._elsewhere.has_session if self._elsewhere else self._has_session

    @property
    def attempts(self) -> tuple[GivenUp, ...]:
        """Every attempt that used something; the one under way as if it were cut off now."""
        if self._is_used:
            return (*self._given_up, self._under_way)
        return tuple(self._given_up)

    @property
    def judges(self) -> tuple[Usage | None, ...]:
        """Usage of each call of a judge in the attempt under way."""
        if self._elsewhere:
            return self._elsewhere.judges
        return tuple(self._judges)

    @property
    def session(self) -> Usage | None:
        """Usage of the session under way, as far as it is known."""
        if self._elsewhere:
            return self._elsewhere.usage
        return self._session

    def begin_session(self) -> None:
        """Take note that an agent starts: from now on it may use something that it has not reported yet."""
        self._has_session = True
        self.report()

    def session_used(self, usage: Usage) -> None:
        """Take the usage of the whole session so far."""
        self._has_session = True
        if usage != self._session:
            self._session = usage
            self.report()

    def judge_asked(self) -> Callable[[Usage | None], None]:
        """Take note of a call of a judge; the answer takes its usage."""
        place = len(self._judges)
        self._judges.append(None)
        calls = self._judges
        self.report()

        def answered(usage: Usage | None) -> None:
            calls[place] = usage
            self.report()

        return answered

    def used_elsewhere(self, attempt: GivenUp) -> None:
        """Take what an attempt that is made in another process has used so far."""
        self._elsewhere = attempt
        self.report()

    def give_up(self, attempt: GivenUp) -> None:
        """Take an attempt that failed and will be made again."""
        self._given_up.append(attempt)
        self._has_session, self._session, self._judges, self._elsewhere = False, None, [], None
        self.is_kept = False
        self.report()

    def report(self) -> None:
        """Hand on what is known."""
        if attempts := self.attempts:
            self._on_spent(self._trial, attempts)

    @property
    def _is_used(self) -> bool:
        return self._has_session or bool(self._judges) or self._elsewhere is not None

    @property
    def _under_way(self) -> GivenUp:
        if self._elsewhere:
            return self._elsewhere
        return GivenUp(
            failure=Failure.of_agent(FailureClass.KILLED, CUT_OFF),
            usage=self._session,
            wait_s=0.0,
            judges=tuple(self._judges),
            has_session=self._has_session,
            is_cut_off=True,
        )


class LastSteps:
    """Adds to what trials under way have used the last step of their agents.

    Only the kind of a step and the name of its tool are kept: a person who watches a run wants to know whether a
    session moves, and texts may be long.

    Args:
        spent: takes both.
    """

    def __init__(self, spent: Callable[[Trial, tuple[GivenUp, ...], str], None]) -> None:
        self._spent = spent
        self._latest: dict[str, tuple[tuple[GivenUp, ...], str]] = {}

    def spent(self, trial: Trial, attempts: tuple[GivenUp, ...]) -> None:
        """Take what a trial under way has used since it was claimed."""
        self._report(trial, attempts, self._latest.get(trial.trial_id, ((), ""))[1])

    def stepped(self, trial: Trial, event: TrajectoryEvent) -> None:
        """Take what an agent has just done; a step like the last one is no news."""
        attempts, before = self._latest.get(trial.trial_id, ((), ""))
        step = cut(f"{event.kind.value} {event.name or ''}".strip(), _LONGEST_STEP)
        if attempts and step != before:
            self._report(trial, attempts, step)

    def ended(self, result: TrialResult) -> None:
        """Take note that a trial has a result."""
        self._latest.pop(result.trial_id, None)

    def _report(self, trial: Trial, attempts: tuple[GivenUp, ...], step: str) -> None:
        self._latest[trial.trial_id] = attempts, step
        self._spent(trial, attempts, step)
