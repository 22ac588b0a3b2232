"""Engines and models side by side: with which of them a skill helps most, and which passes most with it.

All of them ran the same cases, so any two are compared case by case, and the level allows for how many comparisons that
makes. An engine stands behind another only where a difference is beyond chance. All others share a place, whatever
their figures: an order of numbers that chance made would be read as one of engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillgauge_documents.characters import LINE, plain
from skillgauge_documents.phrases import counted, percent, points

from ..report.answer import compared, interval_here_text
from ..stats import RARE, holm
from ..types.comparison import EnginePair, GroupKey, PairSummary
from ..types.result import RunView


@dataclass(frozen=True)
class Place:
    """A place on a board, from 1; several engines may share one."""

    number: int
    is_tied: bool = False

    def __str__(self) -> str:
        """The place for people: `1`, `1 =` if it is shared."""
        return f"{self.number} =" if self.is_tied else str(self.number)


@dataclass(frozen=True)
class Standing:
    """An engine with its model on a board."""

    name: str
    pair: PairSummary
    by_lift: Place | None
    """`None`: nothing was compared."""
    by_passes: Place | None
    """The same by the share that passes with the skill."""
    passed: float | None
    """That share, over all of its graded cases."""

    @property
    def place_text(self) -> str:
        """The place by lift, for people."""
        return str(self.by_lift) if self.by_lift else "–"

    @property
    def lift_text(self) -> str:
        """The lift with its interval and number of cases."""
        evidence = self.pair.evidence
        if evidence is None:
            return "nothing compared"
        bounds = f"these cases: {interval_here_text(evidence)}"
        return f"{points(evidence.estimate)} ({bounds}, n = {counted(evidence.n, 'case')})"

    @property
    def passed_text(self) -> str:
        """The share that passes with the skill, and the place by it."""
        if self.passed is None or self.by_passes is None:
            return "–"
        return f"{percent(self.passed)} (place {self.by_passes})"


@dataclass(frozen=True)
class Board:
    """The result of one comparison of arms with each engine and model, the best first."""

    title: str
    standings: tuple[Standing, ...]

    @property
    def headline(self) -> str:
        """The engine that the skill helps most, in a sentence."""
        first = [standing for standing in self.standings if standing.by_lift and standing.by_lift.number == 1]
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
    if not many:
        return ()
    rates = {group.key: group.pass_rate.rate for group in view.summary.groups}
    return tuple(
        Board(_title(pairs[0], several=len(many) > 1), _standings(pairs, view.summary.engines, rates)) for pairs in many
    )


def _title(pair: PairSummary, *, several: bool) -> str:
    group = pair.candidate
    name = plain(group.subject)
    return f"{name} · {plain(group.arm)} against {plain(pair.baseline.arm)}" if several else name


def _standings(
    pairs: Sequence[PairSummary], engines: Iterable[EnginePair], rates: Mapping[GroupKey, float | None]
) -> tuple[Standing, ...]:
    has_runners = len({pair.candidate.runner for pair in pairs}) > 1
    ordered = sorted(pairs, key=lambda pair: (pair.lift is None, -(pair.lift or 0.0), _name(pair, has_runner=True)))
    groups = [pair.candidate for pair in ordered if pair.evidence]
    of_board = [
        one for one in engines if one.baseline == pairs[0].baseline.arm and one.first in groups and one.second in groups
    ]
    by_lift = _places(groups, {(one.first, one.second): (one.lift, one.lift_chance) for one in of_board})
    by_passes = _places(groups, {(one.first, one.second): (one.passed, one.passed_chance) for one in of_board})
    return tuple(
        Standing(
            name=_name(pair, has_runner=has_runners),
            pair=pair,
            by_lift=by_lift.get(pair.candidate),
            by_passes=by_passes.get(pair.candidate),
            passed=rates.get(pair.candidate),
        )
        for pair in ordered
    )


def _places(
    groups: Sequence[GroupKey], differences: Mapping[tuple[GroupKey, GroupKey], tuple[float, float]]
) -> dict[GroupKey, Place]:
    """The place of each group: one more than there are that are better beyond chance.

    Args:
        groups: candidate arms.
        differences: of two of them the first minus the second, and its chance.
    """
    chances = holm([chance for _, chance in differences.values()])
    better = dict.fromkeys(groups, 0)
    for ((first, second), (difference, _)), chance in zip(differences.items(), chances, strict=True):
        if chance <= RARE and difference:
            better[second if difference > 0 else first] += 1
    numbers = list(better.values())
    return {group: Place(1 + number, is_tied=numbers.count(number) > 1) for group, number in better.items()}


def _name(pair: PairSummary, *, has_runner: bool) -> str:
    runner, model = pair.candidate.runner, pair.candidate.model
    if not model:
        return plain(runner, LINE)
    return " · ".join(plain(part, LINE) for part in ((runner, model) if has_runner else (model,)))
