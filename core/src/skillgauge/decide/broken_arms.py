"""Sessions that do not stand for their arm, said aloud: a rate without them is no answer to whether a skill works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted

from ..report.progress import abridged_results
from ..run.arm_integrity import UNKNOWN
from ..types.comparison import PairSummary
from ..types.results.runs import RunView

_REASONS = 3
"""Reasons that are named; more of them are counted."""
_CHARACTERS = 600
"""Of a reason. What the user can do stands at its end, so it is cut later than other texts."""


def broken_arms(view: RunView) -> Iterator[str]:
    """Yield a line for each reason for which sessions prove nothing about their arm, the most frequent first.

    The list of cases that did not pass names fails first, and may leave all of these out.

    Args:
        view: the run; its results are read only where a group has errors.
    """
    reasons = Counter(_reasons(view))
    for reason, sessions in reasons.most_common(_REASONS):
        yield f"an error in {counted(sessions, 'session')}, in no rate: {plain(reason, _CHARACTERS)}"
    if len(reasons) > _REASONS:
        yield f"sessions proved nothing about their arm for {counted(len(reasons) - _REASONS, 'further reason')}"


def unproven_arms(view: RunView) -> Iterator[str]:
    """Yield a line for each comparison in which nothing shows that the skill was there.

    An agent that looks for skills elsewhere works alike in both arms, and a lift of nothing is no verdict on the skill
    then.

    Args:
        view: the run; results are read only where no skill fired, and no further than to the first that tells.
    """
    for pair in view.summary.pairs:
        if not (pair.fired and pair.fired.fired) and _is_unproven(view, pair):
            yield (
                f"arm integrity unknown: no session of {pair.candidate.subject} in arm {pair.candidate.arm!r} tells "
                f"that it was offered the skill or used it, so both arms may have been alike. Check that the engine's "
                f"skill_folder is where the agent looks for skills"
            )


def _is_unproven(view: RunView, pair: PairSummary) -> bool:
    is_unproven = False
    for result in abridged_results(view.source, group=pair.candidate):
        if result.execution.failure is not None:
            continue
        is_unproven = (result.execution.arm_integrity or "").startswith(UNKNOWN)
        if not is_unproven:
            return False
    return is_unproven


def _reasons(view: RunView) -> Iterator[str]:
    """Yield the reason of each session that proves nothing about its arm."""
    with_errors = [group for group in view.summary.groups if group.counts.errors]
    for group in with_errors:
        for result in abridged_results(view.source, group=group.key):
            failure = result.execution.failure
            if failure is not None and failure.message == result.execution.arm_integrity:
                yield failure.message
