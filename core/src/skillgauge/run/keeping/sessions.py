"""The usage of a session whose execution is kept, as the ledger writes it down until its trial has a result."""

from __future__ import annotations

from collections.abc import Iterable

from ...types.kept import KeptExecution
from ...types.results.trials import GivenUp, Unfinished
from ...types.trial import Failure, FailureClass
from ..budget import CUT_OFF


def with_session(kept: KeptExecution, latest: Unfinished | None, claim: int) -> Unfinished:
    """Return the usage of the claim under way by the time that an execution is kept.

    Args:
        kept: the execution of its last attempt.
        latest: its usage so far.
        claim: its number.
    """
    failure = Failure.of_agent(FailureClass.KILLED, CUT_OFF)
    attempts = latest.attempts if latest else (GivenUp(failure=failure, wait_s=0.0, is_cut_off=True),)
    return Unfinished(trial_id=kept.trial_id, ordinal=kept.ordinal, claim=claim, attempts=_last_changed(attempts, kept))


def with_earlier_session(kept: KeptExecution, claims: Iterable[Unfinished]) -> tuple[int, Unfinished] | None:
    """Return the usage of the claim whose session came to its end when the process that had begun it was gone.

    It is the last one that had a session under way.

    Args:
        kept: the execution.
        claims: earlier claims of trials without a result, those of one trial in their order.

    Returns:
        The place of the session's attempt among all of its trial, and the claim; `None` if no claim tells of it.
    """
    attempts, earlier = 0, None
    for claim in claims:
        if claim.trial_id == kept.trial_id:
            attempts += len(claim.attempts)
            if claim.attempts[-1].has_session:
                changed = claim.model_copy(update={"attempts": _last_changed(claim.attempts, kept)})
                earlier = attempts - 1, changed
    return earlier


def _last_changed(attempts: tuple[GivenUp, ...], kept: KeptExecution) -> tuple[GivenUp, ...]:
    last = attempts[-1].model_copy(update={"usage": kept.execution.usage, "has_session": True})
    return (*attempts[:-1], last)
