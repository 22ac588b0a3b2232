"""The five outcomes of a case and the verdict of a run."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from skillgauge.api.report import Outcome


class RunVerdict(StrEnum):
    """The verdict over all outcomes of a run. The strings are frozen."""

    PASS = "pass"
    FAIL = "fail"
    MIXED = "mixed"
    ERROR = "error"


_GOOD = frozenset({Outcome.FLIP_TO_PASS, Outcome.PASS_KEPT})
_OUTCOMES = {
    (True, False): Outcome.FLIP_TO_PASS,
    (True, True): Outcome.PASS_KEPT,
    (False, False): Outcome.FAIL_KEPT,
    (False, True): Outcome.FLIP_TO_FAIL,
}


def outcome_of(*, with_passed: bool, without_passed: bool, errored: bool) -> Outcome:
    """Return the outcome of a case with the skill; an error in either arm goes before its grades."""
    return Outcome.ERROR if errored else _OUTCOMES[with_passed, without_passed]


def verdict_of(outcomes: Iterable[Outcome | str]) -> RunVerdict:
    """The verdict over all outcomes, errors left aside.

    The floor that too many errors set to a run is no part of it: see `Aggregate.verdict`.
    """
    known = {Outcome(one) for one in outcomes} - {Outcome.ERROR}
    if not known:
        return RunVerdict.ERROR
    if known <= _GOOD:
        return RunVerdict.PASS
    return RunVerdict.MIXED if known & _GOOD else RunVerdict.FAIL
