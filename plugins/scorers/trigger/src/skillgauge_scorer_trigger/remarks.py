"""The sessions of a group together: whose skill fired for which queries, and which queries keep the threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import JsonObject, Score, ScoreStatus
from skillgauge.api.report import Figure, GroupKey, RunView, Table, abridged_results, counted, labels
from skillgauge.stats import RateInterval

from .options import SCORER

CONFUSION = "trigger_confusion"
QUERIES = {
    True: ("queries_fired", "Queries that fire as often as their threshold wants"),
    False: ("queries_silent", "Queries that fire less often than their threshold"),
}
"""Name and label of the figure for each kind of queries: one for both would say how the set is mixed."""
NOBODY, NONE = "nobody here", "none"
"""Row of queries that belong to no skill that is known, and column of sessions in which no skill fired."""
_MOST = 30
"""Skills that have a column of their own."""


@dataclass
class _Query:
    """The graded sessions of one query."""

    should: bool
    threshold: float
    graded: int = 0
    fired: int = 0

    @property
    def is_met(self) -> bool:
        return (self.fired / self.graded >= self.threshold) == self.should


@dataclass
class _Group:
    """The sessions of a group."""

    skill: str = ""
    beside: bool = True
    sessions: Counter[str] = field(default_factory=Counter)
    """Graded ones, by the owner of their query."""
    fired: dict[str, Counter[str]] = field(default_factory=dict)
    """For each owner, how many sessions a skill fired in."""
    queries: dict[int, _Query] = field(default_factory=dict)
    wanted: int = 0
    """Graded sessions in which the skill should have fired."""
    hits: int = 0

    def add(self, case: int, score: Score, evidence: JsonObject) -> None:
        should, owner = evidence.get("should_trigger") is True, str(evidence.get("owner") or NOBODY)
        fires = (score.status is ScoreStatus.PASSED) == should
        self.skill = str(evidence.get("skill") or "")
        self.beside = self.beside and score.beside
        names = [str(one["name"]) for one in _items(evidence.get("fired"))]
        self.sessions[owner] += 1
        self.fired.setdefault(owner, Counter()).update(dict.fromkeys(names or [NONE], 1))
        query = self.queries.setdefault(case, _Query(should, _number(evidence.get("threshold"))))
        query.graded += 1
        query.fired += fires
        self.wanted += should
        self.hits += should and fires

    def table(self) -> Table:
        """Owner of a query x skill that fired; a session counts in the column of each skill that fired in it."""
        owners = sorted(self.sessions, key=lambda name: (name != self.skill, name == NOBODY, name))
        names = {name for counts in self.fired.values() for name in counts} - {NONE}
        of_owners = [name for name in owners if name != NOBODY]
        skills = [*of_owners, *sorted(names - {*of_owners})][:_MOST]
        rows: list[tuple[str | int, ...]] = [
            (owner, self.sessions[owner], *(self.fired[owner][name] for name in (*skills, NONE))) for owner in owners
        ]
        label = "Sessions by the skill that a query belongs to, and the skills that fired"
        return Table(name=CONFUSION, label=label, heads=("Query of", "Sessions", *skills, NONE), rows=tuple(rows))

    def figures(self) -> Iterator[Figure]:
        """The share of queries of each kind whose sessions kept to their threshold; none where each had one session."""
        if all(query.graded == 1 for query in self.queries.values()):
            return
        for should, (name, label) in QUERIES.items():
            met = [float(query.is_met) for query in self.queries.values() if query.should is should]
            if met:
                rate = RateInterval.of(met, repeats=1, seed=0)
                yield Figure(name=name, label=label, value=rate.rate, unit="ratio", interval=rate)


def remarks(view: RunView) -> Iterator[str | tuple[GroupKey, Figure | Table]]:
    """A table for each group of sessions that were asked whether a skill fires, and an alarm where it never did."""
    groups = _asked_groups(view)
    names = labels(view.summary.groups)
    for key, name in zip((group.key for group in view.summary.groups), names, strict=True):
        if key not in groups:
            continue
        group = groups[key]
        yield key, group.table()
        if not group.beside:
            yield from ((key, figure) for figure in group.figures())
        if group.wanted and not group.hits:
            yield (
                f"{name}: the skill never fired in {counted(group.wanted, 'session')} that should make it fire. Check "
                f"the engine first, then the description: where nothing fires, silence proves nothing"
            )


def _asked_groups(view: RunView) -> dict[GroupKey, _Group]:
    """Return the groups whose sessions were asked whether a skill fires; the results are read once."""
    groups: dict[GroupKey, _Group] = {}
    for result in abridged_results(view.source):
        for score in result.scores:
            if score.scorer != SCORER or score.status is ScoreStatus.UNGRADED:
                continue
            evidence = score.evidence
            if isinstance(evidence, Mapping) and "owner" in evidence:
                groups.setdefault(result.group, _Group()).add(result.case_index, score, evidence)
    return groups


def _items(value: Any) -> Iterable[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping) and "name" in one] if isinstance(value, tuple) else ()


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.5
