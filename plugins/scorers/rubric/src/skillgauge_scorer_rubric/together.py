"""Claims of several checks of a trial, put to a judge in one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillgauge.api import Check, ScoreContext

from .asking import Ballot
from .options import MOST, RubricOptions


@dataclass(frozen=True)
class Round:
    """Checks whose claims are asked together."""

    claims: tuple[str, ...]
    """Of all of them, in their order."""
    first: str
    """Id of the check for which they are asked."""
    own: slice
    """Which of the claims are those of the check that is scored."""

    @property
    def key(self) -> str:
        """The key under which answers are kept for the other checks; an id is unique in its case."""
        return f"rubric {self.first}"

    def share(self, ballots: Sequence[Ballot], check_id: str) -> tuple[Ballot, ...]:
        """Return the answers to the claims of one check; calls and usage count for the first check only."""
        return tuple(self._share(ballot, check_id) for ballot in ballots)

    def _share(self, ballot: Ballot, check_id: str) -> Ballot:
        answer = ballot.answer
        if answer is not None:
            findings = answer.findings[self.own]
            held = sum(finding.holds for finding in findings)
            answer = replace(answer, value=held / len(findings), findings=findings)
        if check_id == self.first:
            return replace(ballot, answer=answer)
        return replace(ballot, answer=answer, text=None, usage=None, calls=0, fresh=0, cached=0)


def round_of(context: ScoreContext, options: RubricOptions) -> Round:
    """The round that a check of claims belongs to: the checks of its case that differ from it in their claims only.

    A round has as many claims as one check may have; what is more is asked in the next one.
    """
    check = context.check
    claims: list[str] = []
    first, own = check.id, slice(0)
    for check_id, more in _alike(context, options) or [(check.id, options.claims or ())]:
        if claims and len(claims) + len(more) > MOST:
            if own.stop:
                break
            claims = []
        first = first if claims else check_id
        if check_id == check.id:
            own = slice(len(claims), len(claims) + len(more))
        claims += more
    return Round(tuple(claims), first, own)


def _alike(context: ScoreContext, options: RubricOptions) -> list[tuple[str, tuple[str, ...]]]:
    """Ids and claims of the checks of the case that differ in nothing else; empty if this check is not of the case."""
    mine = context.check
    alike: list[tuple[str, tuple[str, ...]]] = []
    for check in context.case.checks:
        if _kind(check) == _kind(mine) and "claims" in check.options:
            theirs = RubricOptions.model_validate(check.options)
            if theirs.model_copy(update={"claims": options.claims}) == options:
                alike.append((check.id, theirs.claims or ()))
    return alike if any(check_id == mine.id for check_id, _ in alike) else []


def _kind(check: Check) -> tuple[object, ...]:
    """Return what checks have to have in common to be asked about together, beside their options."""
    return check.scorer, check.answer, check.stage, check.turn
