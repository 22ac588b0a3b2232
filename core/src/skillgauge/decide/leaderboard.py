"""Engines and models side by side: which of them a skill helps most, as far as that can be told.

Whoever's interval lies wholly below another's stands behind it. All others share a place, whatever their lifts: an
order of numbers that chance made would be read as one of engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillgauge_documents.characters import LINE, plain
from skillgauge_documents.phrases import counted, points

from ..report.answer import compared, interval_new_text
from ..stats import Evidence
from ..types.comparison import PairSummary
from ..types.result import RunView


@dataclass(frozen=True)
class Standing:
    """An engine with its model on a board."""

    name: str
    pair: PairSummary
    place: int | None
    """From 1; several share one. `None`: nothing was compared."""
    is_tied: bool = False
    """Whether it shares its place."""

    @property
    def place_text(self) -> str:
        """The place for people: `1`, `1 =` if it is shared."""
        if self.place is None:
            return "–"
        return f"{self.place} =" if self.is_tied else str(self.place)

    @property
    def lift_text(self) -> str:
        """The lift with its interval and number of cases."""
        evidence = self.pair.evidence
        if evidence is None:
            return "nothing compared"
        bounds = interval_new_text(evidence)
        if evidence.interval:
            bounds = f"new cases: {bounds}"
        return f"{points(evidence.estimate)} ({bounds}, n = {counted(evidence.n, 'case')})"


@dataclass(frozen=True)
class Board:
    """The result of one comparison of arms with each engine and model, the best first."""

    title: str
    standings: tuple[Standing, ...]

    @property
    def headline(self) -> str:
        """The engine that the skill helps most, in a sentence."""
        first = [standing for standing in self.standings if standing.place == 1]
        if not first:
            return f"{self.title}: nothing was compared with any engine"
        names = ", ".join(standing.name for standing in first)
        lifts = [points(standing.pair.lift or 0.0) for standing in (first[0], first[-1])]
        if len(first) == 1:
            return f"{self.title}: the lift is greatest with {names} ({lifts[0]})"
        span = " to ".join(dict.fromkeys(lifts))
        return f"{self.title}: with which engine the lift is greatest cannot be told of {names} ({span})"


def boards(view: RunView) -> tuple[Board, ...]:
    """One for each comparison that was made with more than one engine or model."""
    lanes: dict[tuple[str, str | None, str, str], list[PairSummary]] = {}
    for pair in compared(view):
        group = pair.candidate
        lanes.setdefault((group.suite_id, group.target_id, group.arm, pair.baseline.arm), []).append(pair)
    many = [pairs for pairs in lanes.values() if len(pairs) > 1]
    return tuple(Board(_title(pairs[0], several=len(many) > 1), _standings(pairs)) for pairs in many)


def _title(pair: PairSummary, *, several: bool) -> str:
    group = pair.candidate
    name = plain(group.subject)
    return f"{name} · {plain(group.arm)} against {plain(pair.baseline.arm)}" if several else name


def _standings(pairs: Sequence[PairSummary]) -> tuple[Standing, ...]:
    has_runners = len({pair.candidate.runner for pair in pairs}) > 1
    ordered = sorted(pairs, key=lambda pair: (pair.lift is None, -(pair.lift or 0.0), _name(pair, has_runner=True)))
    places = [_place(pair.evidence, ordered) for pair in ordered]
    return tuple(
        Standing(_name(pair, has_runner=has_runners), pair, place, place is not None and places.count(place) > 1)
        for pair, place in zip(ordered, places, strict=True)
    )


def _place(evidence: Evidence | None, pairs: Sequence[PairSummary]) -> int | None:
    """One more than there are that are better beyond doubt."""
    if evidence is None:
        return None
    others = [pair.evidence for pair in pairs if pair.evidence]
    return 1 + sum(_is_above(other, evidence) for other in others)


def _is_above(first: Evidence, second: Evidence) -> bool:
    if first.interval is None or second.interval is None:
        return False
    return first.interval.lower > second.interval.upper


def _name(pair: PairSummary, *, has_runner: bool) -> str:
    runner, model = pair.candidate.runner, pair.candidate.model
    if not model:
        return plain(runner, LINE)
    return " · ".join(plain(part, LINE) for part in ((runner, model) if has_runner else (model,)))
