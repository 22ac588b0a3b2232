"""The match between the skills of two reports.

A document says less than a record: the runner, for example, is unknown in a report of eval-skills. So skills are
matched by everything first, and what is left by less and less, as long as that leaves no doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from skillgauge.api.report import GroupKey

from .tallying import SkillTally

Match = tuple[SkillTally | None, SkillTally | None]
"""A skill in the first report and in the second; one of them may lack it."""

_SAME_SUITE: tuple[Callable[[GroupKey], object], ...] = (
    lambda key: key,
    lambda key: (key.suite_id, key.target_id, key.arm, key.model),
    lambda key: (key.suite_id, key.target_id, key.arm),
)


def match(before: Sequence[SkillTally], after: Sequence[SkillTally]) -> list[Match]:
    """Pair the skills of two reports: those of the first in its order, then what only the second has."""
    partners: dict[GroupKey, SkillTally] = {}
    for identity in _SAME_SUITE:
        _pair(before, after, partners, identity)
    _pair(before, after, partners, lambda key: (key.target_id, key.arm), must_share=True)
    matched = {partner.key for partner in partners.values()}
    matches: list[Match] = [(one, partners.get(one.key)) for one in before]
    return matches + [(None, one) for one in after if one.key not in matched]


def _pair(
    before: Sequence[SkillTally],
    after: Sequence[SkillTally],
    partners: dict[GroupKey, SkillTally],
    identity: Callable[[GroupKey], object],
    *,
    must_share: bool = False,
) -> None:
    """Pair what is left and unmistakable. `must_share`: only if the two have a task in common."""
    matched = {partner.key for partner in partners.values()}
    unmatched = _unmistakable([skill for skill in before if skill.key not in partners], identity)
    free = _unmistakable([skill for skill in after if skill.key not in matched], identity)
    for name, skill in unmatched.items():
        partner = free.get(name)
        if partner is None:
            continue
        if must_share and not skill.tasks.keys() & partner.tasks.keys():
            continue
        partners[skill.key] = partner


def _unmistakable(skills: Sequence[SkillTally], identity: Callable[[GroupKey], object]) -> dict[object, SkillTally]:
    """Return the skills that no other one of the report is taken for, by what identifies them."""
    counts = Counter(identity(skill.key) for skill in skills)
    return {identity(skill.key): skill for skill in skills if counts[identity(skill.key)] == 1}
