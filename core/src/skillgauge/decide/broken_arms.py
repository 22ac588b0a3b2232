"""Sessions that do not stand for their arm, said aloud: a rate without them is no answer to whether a skill works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted

from ..types.result import RunView

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


def _reasons(view: RunView) -> Iterator[str]:
    """Yield the reason of each session that proves nothing about its arm."""
    with_errors = [group for group in view.summary.groups if group.counts.errors]
    for group in with_errors:
        for result in view.results(group.key):
            failure = result.execution.failure
            if failure is not None and failure.message == result.execution.arm_integrity:
                yield failure.message
