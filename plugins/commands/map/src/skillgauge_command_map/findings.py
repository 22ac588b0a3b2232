"""From sessions to findings: who fires for whose queries, which pairs are suspicious, and what leaving one out proves.

Pure. A pair is put on the list of suspects by what was seen and by how alike descriptions are; that proves nothing.
Suspects are left out in sessions of their own, beside fresh sessions with everything installed, so the sessions that
raised a suspicion are not counted as evidence for it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.stats import LIFT_LEVEL, RateInterval, Repeats, chance_of_difference, holm, interval_here
from skillgauge_skill_maps.model import NONE, LeftOut, MatrixRow, PairRow, Rate, Relation

from .overlap import Likeness
from .queries import ALL, arm_without
from .sessions import Fired, by_query

LEVEL = 1 - LIFT_LEVEL
"""A finding needs a corrected p value of at most this."""
LEAST_INSTEAD = 2
"""Sessions in which a skill has to fire in the place of another to be suspected for what was seen."""
SHARE_INSTEAD = 0.1
"""The same as a share of the sessions of the other's queries."""
ALIKE = 0.4
"""Likeness of descriptions from which a skill is suspected where the other does not fire."""
MARGIN = 0.2
"""Difference of firing rates. A pair whose interval reaches beyond it is undecided, and not merely unproven; and a
skill that fires as often where the other fires as where it does not, within this margin, is no suspect."""
HALF = 0.5

Pair = tuple[str, str]
"""The skill that fires, and the one that the queries belong to."""


@dataclass(frozen=True)
class Screened:
    """All that the first part of a map has seen."""

    likeness: Likeness
    sessions: Mapping[str, tuple[Fired, ...]]
    """Of each skill's queries, with everything installed."""

    @classmethod
    def of(cls, likeness: Likeness, sessions: Iterable[Fired]) -> Screened:
        """Sort sessions by the skill that their query belongs to."""
        groups: dict[str, list[Fired]] = {}
        for session in sessions:
            groups.setdefault(session.owner, []).append(session)
        return cls(likeness, {owner: tuple(of_owner) for owner, of_owner in groups.items()})

    def instead(self, owner: str) -> Counter[str]:
        """Count the sessions in which other skills fired and the owner of the query did not."""
        missed = (session for session in self.sessions.get(owner, ()) if not session.hit)
        return Counter(name for session in missed for name in session.skills)

    def suspects(self, owner: str, most: int) -> tuple[str, ...]:
        """Return the skills that may keep another from firing, the most likely first.

        Args:
            owner: the skill that fires too seldom.
            most: how many at most.
        """
        sessions = self.sessions.get(owner, ())
        instead = self.instead(owner)
        missed = sum(not session.hit for session in sessions)
        if missed < LEAST_INSTEAD:
            return ()
        beside = Counter(name for session in sessions if session.hit for name in session.skills)
        hits = max(1, len(sessions) - missed)
        least = max(LEAST_INSTEAD, math.ceil(SHARE_INSTEAD * len(sessions)))
        suspected = {
            name: (-instead[name], -likeness, name)
            for name, likeness in self.neighbours(owner).items()
            if likeness >= ALIKE or (instead[name] >= least and instead[name] / missed - beside[name] / hits > MARGIN)
        }
        return tuple(sorted(suspected, key=suspected.__getitem__)[:most])

    def neighbours(self, owner: str) -> dict[str, float]:
        """Return the likeness of every other skill to one."""
        return {name: self.likeness.of(name, owner) for name in self.likeness.names if name != owner}

    def matrix(self, names: Sequence[str]) -> tuple[MatrixRow, ...]:
        """Return who fired for whose queries, in the order of some names."""
        rows = []
        for name in names:
            sessions = self.sessions.get(name, ())
            if sessions:
                fired = Counter(skill for session in sessions for skill in session.skills or (NONE,))
                rows.append(MatrixRow(query_of=name, sessions=len(sessions), fired=dict(sorted(fired.items()))))
        return tuple(rows)

    def own_rate(self, owner: str) -> Rate | None:
        """Return how often a skill fires for its own queries; `None` if nobody knows."""
        queries = by_query(self.sessions.get(owner, ()))
        if not queries:
            return None
        means = [sum(session.hit for session in sessions) / len(sessions) for sessions in queries.values()]
        interval = RateInterval.of(means, repeats=max(map(len, queries.values())), seed=0)
        all_sessions = self.sessions[owner]
        return Rate(
            fired=sum(session.hit for session in all_sessions),
            sessions=len(all_sessions),
            queries=len(queries),
            rate=interval.rate or 0.0,
            lower=interval.lower or 0.0,
            upper=1.0 if interval.upper is None else interval.upper,
            method=interval.method or "",
        )


def pair_rows(screened: Screened, again: Iterable[Fired], tested: Sequence[Pair]) -> tuple[PairRow, ...]:
    """Return every pair that was seen or tested, or whose descriptions are alike; the proven ones first.

    Args:
        screened: the first part.
        again: sessions of the second part.
        tested: pairs that the second part was to test.
    """
    results = left_out(again, tested)
    noticed = {
        (name, owner)
        for owner, sessions in screened.sessions.items()
        for session in sessions
        for name in session.skills
        if name != owner
    }
    alike = {
        pair
        for first, second, _ in screened.likeness.pairs(ALIKE)
        for pair in ((first, second), (second, first))
        if pair[1] in screened.sessions
    }
    rows = [_pair_row(screened, pair, results.get(pair)) for pair in {*noticed, *alike, *results}]
    order = list(Relation)
    return tuple(sorted(rows, key=lambda row: (order.index(row.relation), -row.instead, -row.likeness, row.query_of)))


def left_out(again: Iterable[Fired], tested: Sequence[Pair]) -> dict[Pair, LeftOut]:
    """Return the result of every pair that was tested, as far as there are sessions in both arms.

    The P values are those of an exact two-sided test stratified by query, corrected for the number of pairs by Holm's
    method: all pairs that are called together are wrong with a probability of at most `LEVEL`, however they depend on
    each other.
    """
    by_arm: dict[tuple[str, str], list[Fired]] = {}
    for session in again:
        by_arm.setdefault((session.owner, session.arm), []).append(session)
    compared = {}
    for name, owner in tested:
        without, everything = by_arm.get((owner, arm_without(name)), []), by_arm.get((owner, ALL), [])
        result = _compared(without, everything)
        if result is not None:
            compared[name, owner] = result
    adjusted = holm([result.chance for result in compared.values()])
    return {
        pair: result.model_copy(update={"adjusted": chance})
        for (pair, result), chance in zip(compared.items(), adjusted, strict=True)
    }


def _compared(without: Sequence[Fired], everything: Sequence[Fired]) -> LeftOut | None:
    ours, theirs = by_query(without), by_query(everything)
    common = [query for query in ours if query in theirs]
    if not common:
        return None
    pairs = Counter((_repeats(ours[query]), _repeats(theirs[query])) for query in common)
    chance = chance_of_difference(pairs)
    interval = interval_here(pairs, chance=chance)
    saved = [_input(theirs[query]) - _input(ours[query]) for query in common]
    savings = [tokens for tokens in saved if not math.isnan(tokens)]
    return LeftOut(
        fired_with=sum(pair[1].passed * number for pair, number in pairs.items()),
        sessions_with=sum(pair[1].graded * number for pair, number in pairs.items()),
        fired_without=sum(pair[0].passed * number for pair, number in pairs.items()),
        sessions_without=sum(pair[0].graded * number for pair, number in pairs.items()),
        queries=len(common),
        difference=sum((pair[0].share - pair[1].share) * number for pair, number in pairs.items()) / len(common),
        lower=interval.lower,
        upper=interval.upper,
        chance=chance,
        adjusted=chance,
        input_tokens=math.fsum(savings) / len(savings) if savings else None,
    )


def _repeats(sessions: Sequence[Fired]) -> Repeats:
    return Repeats(sum(session.hit for session in sessions), len(sessions))


def _input(sessions: Sequence[Fired]) -> float:
    """Return the tokens that a call reads, mean over sessions; not a number if no session tells."""
    tokens = [session.input_per_call for session in sessions if session.input_per_call is not None]
    return math.fsum(tokens) / len(tokens) if tokens else math.nan


def _pair_row(screened: Screened, pair: Pair, result: LeftOut | None) -> PairRow:
    name, owner = pair
    sessions = screened.sessions.get(owner, ())
    fired = [session for session in sessions if name in session.skills]
    queries = dict.fromkeys(session.query for session in fired if not session.hit)
    return PairRow(
        skill=name,
        query_of=owner,
        relation=_relation(screened, pair, result, fires=bool(fired)),
        likeness=round(screened.likeness.of(name, owner), 4),
        instead=sum(not session.hit for session in fired),
        together=sum(session.hit for session in fired),
        sessions=len(sessions),
        queries=tuple(queries),
        left_out=result,
    )


def _relation(screened: Screened, pair: Pair, result: LeftOut | None, *, fires: bool) -> Relation:
    if result is not None and result.adjusted <= LEVEL + 1e-12:
        if result.difference < 0:
            return Relation.SUPPORTS
        return Relation.SUBSUMES if _takes_over(screened, pair) else Relation.SHADOWS
    if result is not None and result.upper > MARGIN and (fires or result.difference > 0):
        return Relation.UNDECIDED
    return Relation.FIRES_TOO if fires else Relation.ALIKE


def _takes_over(screened: Screened, pair: Pair) -> bool:
    """Tell whether a skill fires for most of another's queries, and the other for few: both by their intervals."""
    name, owner = pair
    rate = screened.own_rate(owner)
    if rate is None or rate.upper >= HALF:
        return False
    queries = by_query(screened.sessions[owner]).values()
    means = [sum(name in session.skills for session in sessions) / len(sessions) for sessions in queries]
    share = RateInterval.of(means, repeats=max(map(len, queries)), seed=0)
    return share.lower is not None and share.lower > HALF
