"""Meter what a trial uses while it is under way, so that an attempt which is cut off counts.

An execution names its usage when it has come to its end. Until then the meter of its trial holds what engine and judges
have reported so far, and hands it on for the ledger to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from ..types.result import GivenUp
from ..types.trial import Failure, FailureClass, Trial, Usage

CUT_OFF = "cut off: the run ended before this attempt did, so of an answer under way not every token is counted"

OnSpent = Callable[[Trial, tuple[GivenUp, ...]], None]
"""Takes what a trial has used since it was claimed; a later call for the same trial replaces an earlier one."""

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

    @property
    def attempts(self) -> tuple[GivenUp, ...]:
        """Every attempt that used something; the one under way as if it were cut off now."""
        return (*self._given_up, *([self._under_way] if self._is_used else ()))

    @property
    def judges(self) -> tuple[Usage | None, ...]:
        """Usage of each call of a judge in the attempt under way."""
        return self._elsewhere.judges if self._elsewhere else tuple(self._judges)

    @property
    def session(self) -> Usage | None:
        """Usage of the session under way, as far as it is known."""
        return self._elsewhere.usage if self._elsewhere else self._session

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
        self.report()

    def report(self) -> None:
        """Hand on what is known."""
        if self.attempts:
            self._on_spent(self._trial, self.attempts)

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
