"""The changes since an earlier run, group by group and case by case, for reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skillgauge_documents.immutables import immutable

from ...stats import RARE, Change, change_of, has_fallen, holm
from ...types.arms import GroupKey
from ...types.decided import ChangedCase, Changes, Direction, GroupChange
from ..gates import gated
from .matching import CaseOfGroup, Matching


def changes_of(matching: Matching, margin: float = 0.0) -> Changes:
    """Return what changed since the earlier run.

    A skill is better or worse by the rule of `report diff`: its pass rate and, where it is known, its lift moved beyond
    chance, all groups of the run allowed for. The cases are those of both runs, and so is the question: these cases.

    Args:
        matching: both runs. Blocks; call it from a worker thread.
        margin: a difference up to this, as a fraction, is none.
    """
    keys = [group.key for group in gated(matching.view)]
    both_ways = {key: change for key in keys if (change := _both_ways(matching, key))}
    chances = _allowed_for(both_ways)
    groups = tuple(_group_change(matching, key, both_ways.get(key), chances.get(key, 1.0), margin) for key in keys)
    return Changes(since=matching.earlier.name, groups=groups)


@immutable
class _BothWays:
    """The change of a group, and the same as if the second run had been the first."""

    loss: Change
    gain: Change
    control: str

    @property
    def likelier(self) -> Change:
        """The change in the direction in which the group moved."""
        return self.loss if self.loss.own < 0 else self.gain


def _both_ways(matching: Matching, key: GroupKey) -> _BothWays | None:
    """Return the change of a group; `None` if no group can be compared with it, or no case is still the same."""
    partner = matching.partner(key)
    if partner is None or matching.differing(key, partner):
        return None
    cases = matching.cases(key, partner)
    loss, gain = change_of(cases.graded), change_of([case.reversed for case in cases.graded])
    return _BothWays(loss, gain, cases.control_text) if loss and gain else None


def _allowed_for(both_ways: Mapping[GroupKey, _BothWays]) -> dict[GroupKey, float]:
    """Return the chance of the change of each group that moved, all of them allowed for."""
    moved = {key: change.likelier.chance for key, change in both_ways.items() if change.loss.own}
    return dict(zip(moved, holm(list(moved.values())), strict=True))


def _group_change(
    matching: Matching, key: GroupKey, both_ways: _BothWays | None, chance: float, margin: float
) -> GroupChange:
    partner = matching.partner(key)
    if partner is None:
        return GroupChange(group=key, direction=Direction.NEW)
    if differing := matching.differing(key, partner):
        return GroupChange(group=key, direction=Direction.APART, note=f"this changed: {', '.join(differing)}")
    if both_ways is None:
        return GroupChange(group=key, direction=Direction.APART, note="no case is still the same")
    flips = [(matching.before[partner][case], matching.after[key][case]) for case in matching.same_cases(key, partner)]
    own = both_ways.loss.own
    return GroupChange(
        group=key,
        direction=_direction(both_ways, chance, margin),
        own=own,
        lift=both_ways.loss.lift,
        n=both_ways.loss.n,
        chance=chance if own else None,
        newly_failing=tuple(_flipped(flips, was=True)),
        newly_passing=tuple(_flipped(flips, was=False)),
        note=both_ways.control if own else "",
    )


def _direction(both_ways: _BothWays, chance: float, margin: float) -> Direction:
    loss, gain = both_ways.loss, both_ways.gain
    if not loss.own:
        return Direction.SAME
    if chance <= RARE and has_fallen(loss.own, loss.lift, margin):
        return Direction.WORSE
    if chance <= RARE and has_fallen(gain.own, gain.lift, margin):
        return Direction.BETTER
    return Direction.UNDECIDED


def _flipped(pairs: Sequence[tuple[CaseOfGroup, CaseOfGroup]], *, was: bool) -> Iterator[ChangedCase]:
    """Yield the cases that passed before and fail now, or the other way round."""
    for before, after in pairs:
        if (before.summary.passes, after.summary.passes) == (was, not was):
            head = after.head
            yield ChangedCase(
                case_id=head.id, title=head.title, before=before.summary.counts, after=after.summary.counts
            )
