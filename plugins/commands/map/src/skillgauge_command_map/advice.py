"""The thing to do about each skill, with the evidence for it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from skillgauge.api.report import counted, percent
from skillgauge_skill_maps.model import PROVEN, Action, PairRow, Rate, Relation, SkillRow
from skillgauge_skill_maps.wording import pair_sentence, queries_text

from .catalogue import Member
from .findings import HALF, LEAST_INSTEAD, Screened
from .overlap import shared_words

NAMES_ALIKE = 0.5
"""Share of words that two names have in common from which a new name is advised before a new description."""
_BROAD = 2
"""Skills that a skill has to shadow for its own description to be called too broad."""


def skill_rows(members: Sequence[Member], screened: Screened, pairs: Sequence[PairRow]) -> tuple[SkillRow, ...]:
    """Return a row for each skill: those with something to do first, then by name."""
    for_others = Counter(
        name
        for owner, sessions in screened.sessions.items()
        for session in sessions
        for name in session.skills
        if name != owner
    )
    rows = [_row(member, screened, pairs, for_others[member.name]) for member in members]
    order = list(Action)
    return tuple(sorted(rows, key=lambda row: (order.index(row.action), row.name)))


def _row(member: Member, screened: Screened, pairs: Sequence[PairRow], for_others: int) -> SkillRow:
    name = member.name
    rate = screened.own_rate(name)
    missed = [session for session in screened.sessions.get(name, ()) if not session.hit]
    none_fired = sum(not session.skills for session in missed)
    proven = [pair for pair in pairs if pair.relation in PROVEN]
    by_others = [pair for pair in proven if pair.query_of == name]
    over_others = [pair for pair in proven if pair.skill == name]
    action, partners = _action(name, rate, by_others, over_others)
    is_chosen = for_others > 0 or (rate is not None and rate.fired > 0)
    return SkillRow(
        name=name,
        action=action,
        partners=partners,
        evidence=tuple(_evidence(name, rate, none_fired, [*by_others, *over_others])),
        own=rate,
        others_fired=len(missed) - none_fired,
        none_fired=none_fired,
        for_others=for_others,
        never_chosen=rate is not None and rate.upper < HALF and not is_chosen,
        description_tokens=member.tokens,
        input_tokens=_saved(name, pairs),
    )


def _saved(name: str, pairs: Sequence[PairRow]) -> float | None:
    """Return the tokens that a call reads less without a skill, mean over the pairs in which it was left out."""
    results = [pair.left_out for pair in pairs if pair.skill == name and pair.left_out]
    savings = [result.input_tokens for result in results if result.input_tokens is not None]
    return sum(savings) / len(savings) if savings else None


def _action(
    name: str, rate: Rate | None, by_others: Sequence[PairRow], over_others: Sequence[PairRow]
) -> tuple[Action, tuple[str, ...]]:
    """Return what to do about a skill, and with which others."""
    subsuming = tuple(pair.skill for pair in by_others if pair.relation is Relation.SUBSUMES)
    shadowing = tuple(pair.skill for pair in by_others)
    shadowed = tuple(pair.query_of for pair in over_others)
    if subsuming:
        return Action.MERGE, subsuming
    if shadowing:
        namesakes = tuple(other for other in shadowing if shared_words((name, other)) >= NAMES_ALIKE)
        return (Action.RENAME, namesakes) if namesakes else (Action.SHARPEN, shadowing)
    if len(shadowed) >= _BROAD:
        return Action.SHARPEN, shadowed
    if rate is None:
        return Action.UNDECIDED, ()
    if rate.upper < HALF:
        return Action.SHARPEN, ()
    return (Action.KEEP if rate.rate > HALF else Action.UNDECIDED), ()


def _evidence(name: str, rate: Rate | None, none_fired: int, pairs: Sequence[PairRow]) -> Iterator[str]:
    if rate is None:
        yield "no session of its own queries tells which skills fired"
    else:
        span = f"{percent(rate.lower)} to {percent(rate.upper)} for queries like these"
        fired = f"fired in {rate.fired} of {counted(rate.sessions, 'session')} of its {queries_text(rate.queries)}"
        yield f"{fired} ({span})"
    if none_fired >= LEAST_INSTEAD:
        yield f"no skill fired in {none_fired} of them"
    for pair in pairs:
        yield pair_sentence(pair, name)
