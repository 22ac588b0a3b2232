"""Add up what a run used: cost and tokens, and how much of it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..types.results.summaries import Spending
from ..types.results.trials import GivenUp, TrialResult, Unfinished
from ..types.usage import Usage


class SpendingTally:
    """Adds up what results used while they pass."""

    def __init__(self) -> None:
        self._cost, self._tokens = 0.0, 0
        self._unknown, self._replayed, self._cut_off = 0, 0, 0
        self._is_reported = False
        self._user_usd, self._user_tokens = 0.0, 0

    def counted(self, result: TrialResult) -> TrialResult:
        """Count a result, and return it."""
        execution, usages = result.execution, result.usages
        reported = [usage for usage in usages if usage]
        is_session = execution.trajectory is not None
        if not (reported or is_session or execution.replayed):
            return result
        self._replayed += execution.replayed
        self._is_reported |= bool(reported)
        if execution.user_usage and not execution.replayed:
            self._add_user(execution.user_usage)
        self._add(reported)
        cut_off_unknown = bool(result.given_up) and self._add_cut_off(result.given_up)
        is_unknown = is_session and len(reported) < len(usages)
        self._unknown += is_unknown or cut_off_unknown or _lacks_cost(reported)
        return result

    def _add_user(self, usage: Usage) -> None:
        self._user_usd += usage.cost_usd or 0.0
        self._user_tokens += usage.all_tokens

    def _add_cut_off(self, attempts: Iterable[GivenUp]) -> bool:
        """Count attempts that were cut off, and tell whether any of them lacks a usage."""
        cut_off = [attempt for attempt in attempts if attempt.is_cut_off]
        self._cut_off += len(cut_off)
        return any(None in attempt.usages for attempt in cut_off)

    def add_unfinished(self, unfinished: Iterable[Unfinished]) -> None:
        """Add what was used for trials that have no result; one trial may come with several claims."""
        unknown = set()
        for trial in unfinished:
            usages = [usage for attempt in trial.attempts for usage in attempt.usages]
            reported = [usage for usage in usages if usage]
            self._is_reported = True
            self._add(reported)
            self._cut_off += sum(attempt.is_cut_off for attempt in trial.attempts)
            if len(reported) < len(usages) or _lacks_cost(reported):
                unknown.add(trial.trial_id)
        self._unknown += len(unknown)

    def _add(self, usages: Sequence[Usage]) -> None:
        self._cost += sum([usage.cost_usd or 0.0 for usage in usages])
        self._tokens += sum([usage.all_tokens for usage in usages])

    @property
    def spending(self) -> Spending | None:
        """The sum; `None` if nothing reports what it uses, and nothing was replayed."""
        if not self._is_reported and not self._replayed:
            return None
        return Spending(
            cost_usd=self._cost,
            tokens=self._tokens,
            user_usd=self._user_usd,
            user_tokens=self._user_tokens,
            unknown=self._unknown,
            replayed=self._replayed,
            cut_off=self._cut_off,
        )


def _lacks_cost(usages: Iterable[Usage]) -> bool:
    return None in [usage.cost_usd for usage in usages]
