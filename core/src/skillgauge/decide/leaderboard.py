"""Engines and models side by side: with which of them a skill helps most, and with which most passes.

All of them ran the same cases, so any two are compared case by case, and the level allows for how many comparisons that
makes. An engine stands behind another only where a difference is beyond chance. All others share a place, whatever
their figures: an order of numbers that chance made would be read as one of engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillgauge_documents.characters import LINE, plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import UNKNOWN, counted, percent, points, signed_points

from ..report.answer import compared, interval_here_text
from ..report.wording import interval_text
from ..stats import RARE, Interval, RateInterval, holm
from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.result import RunView


class RankedBy(StrEnum):
    """The figure that engines are ranked by."""

    PASS_RATE = "pass_rate"
    LIFT = "lift"


class Behind(Frozen):
    """The difference of an engine to the first of a ranking, over the cases that both have."""

    first: str
    """Its name."""
    difference: float
    """A fraction, below 0 where the engine is behind."""
    lower: float | None
    """Of the difference, for these cases, together with all other differences of the ranking."""
    upper: float | None
    chance: float
    """Two-sided, allowing for all comparisons of the ranking."""
    n: int
    """Cases."""

    @property
    def text(self) -> str:
        """The difference with its bounds."""
        if self.lower is None or self.upper is None:
            return points(self.difference)
        return f"{points(self.difference)} ({signed_points(self.lower)} to {signed_points(self.upper)})"


class Rank(Frozen):
    """An engine with its model in a ranking."""

    name: str
    runner: str
    model: str | None
    place: int | None
    """From 1: one more than there are that are better beyond chance; `None` if nothing was measured."""
    is_tied: bool
    """True if others share the place."""
    value: float | None
    """The pass rate or the lift, as a fraction."""
    value_text: str
    """The same with its interval and its number of cases."""
    behind: Behind | None = None
    """`None` for the first, and where nothing can be compared with it."""

    @property
    def place_text(self) -> str:
        """The place for people: `1`, `1 =` if it is shared."""
        if self.place is None:
            return UNKNOWN
        return f"{self.place} =" if self.is_tied else str(self.place)

    @property
    def behind_text(self) -> str:
        """The difference to the first, for people."""
        return self.behind.text if self.behind else UNKNOWN


class Ranking(Frozen):
    """Engines and models in the order of one figure, the best first."""

    by: RankedBy
    suite: str
    target: str | None
    arm: str
    baseline: str | None
    """The arm that the lift is measured from; `None` of pass rates."""
    title: str
    ranks: tuple[Rank, ...]

    @property
    def headline(self) -> str:
        """The engine that stands first, in a sentence, or the ties."""
        subject = "the lift is greatest" if self.by is RankedBy.LIFT else f"{self._rate} is highest"
        first = [rank for rank in self.ranks if rank.place == 1]
        if not first:
            return f"{self.title}: nothing was compared with any engine"
        names = ", ".join(rank.name for rank in first)
        values = [self._text(rank.value or 0.0) for rank in (first[0], first[-1])]
        if len(first) == 1:
            return f"{self.title}: {subject} with {names} ({values[0]})"
        span = " to ".join(dict.fromkeys(values))
        best = "the greatest lift" if self.by is RankedBy.LIFT else f"the highest {self._rate.removeprefix('the ')}"
        return f"{self.title}: which of {names} has {best} cannot be told ({span})"

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns: the place, the engine, its figure, and how far it is behind the first."""
        figure = "Lift" if self.by is RankedBy.LIFT else f"P{self._rate.removeprefix('the p')}"
        return ("Place", "Engine", figure, "Behind the first")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Texts for these columns."""
        return [(rank.place_text, rank.name, rank.value_text, rank.behind_text) for rank in self.ranks]

    @property
    def _rate(self) -> str:
        return f"the pass rate of {plain(self.arm)}"

    def _text(self, value: float) -> str:
        return points(value) if self.by is RankedBy.LIFT else percent(value)


def rankings(view: RunView) -> tuple[Ranking, ...]:
    """Return the ranking by lift of each comparison, and that by pass rate of each arm that is no mere baseline.

    Only those of several engines or models are there. An engine whose comparison is invalid stands in none.
    """
    return (*_by_lift(view), *_by_passes(view))


def _by_lift(view: RunView) -> Iterator[Ranking]:
    boards: dict[tuple[str, str | None, str, str], list[PairSummary]] = {}
    for pair in compared(view):
        group = pair.candidate
        boards.setdefault((group.suite_id, group.target_id, group.arm, pair.baseline.arm), []).append(pair)
    many = [pairs for pairs in boards.values() if len(pairs) > 1]
    for pairs in many:
        key, baseline = pairs[0].candidate, pairs[0].baseline.arm
        values = {pair.candidate: (pair.lift, _lift_text(pair)) for pair in pairs}
        differences = {
            (pair.first, pair.second): _Difference(
                pair.lift, pair.lift_chance, pair.lift_adjusted, pair.lift_interval, pair.n
            )
            for pair in view.summary.engines
            if pair.baseline == baseline and pair.lift is not None and pair.lift_chance is not None
        }
        title = f"{plain(key.subject)} · {plain(key.arm)} against {plain(baseline)}"
        yield Ranking(
            by=RankedBy.LIFT,
            suite=key.suite_id,
            target=key.target_id,
            arm=key.arm,
            baseline=baseline,
            title=title if len(many) > 1 else plain(key.subject),
            ranks=tuple(_ranks(values, differences)),
        )


def _by_passes(view: RunView) -> Iterator[Ranking]:
    rates = _valid_rates(view)
    boards: dict[tuple[str, str | None, str], dict[GroupKey, None]] = {}
    for pair in view.summary.engines:
        for key in (pair.first, pair.second):
            if key in rates:
                boards.setdefault((key.suite_id, key.target_id, key.arm), {})[key] = None
    differences = {
        (pair.first, pair.second): _Difference(
            pair.passed, pair.passed_chance, pair.passed_adjusted, pair.passed_interval, pair.passed_n
        )
        for pair in view.summary.engines
    }
    for (suite, target, arm), keys in boards.items():
        if len(keys) > 1:
            yield Ranking(
                by=RankedBy.PASS_RATE,
                suite=suite,
                target=target,
                arm=arm,
                baseline=None,
                title=plain(target or suite),
                ranks=tuple(_ranks({key: (rates[key].rate, _rate_text(rates[key])) for key in keys}, differences)),
            )


def _valid_rates(view: RunView) -> dict[GroupKey, RateInterval]:
    """Return the pass rates of groups that prove anything."""
    invalid = {validity.suite_id for validity in view.summary.validity if not validity.valid}
    broken = {pair.candidate for pair in view.summary.pairs if pair.is_valid is False}
    rates = {group.key: group.pass_rate for group in view.summary.groups if group.suite_id not in invalid}
    return {key: rate for key, rate in rates.items() if rate.rate is not None and key not in broken}


def _lift_text(pair: PairSummary) -> str:
    """The lift with its interval and number of cases."""
    evidence = pair.evidence
    if evidence is None:
        return "nothing compared"
    return (
        f"{points(evidence.estimate)} (these cases: {interval_here_text(evidence)}, n = {counted(evidence.n, 'case')})"
    )


def _rate_text(rate: RateInterval) -> str:
    return f"{percent(rate.rate)} ({rate.level:.0%} interval {interval_text(rate)}, n = {counted(rate.n, 'case')})"


@dataclass(frozen=True, slots=True)
class _Difference:
    """The figure of one engine minus that of another."""

    estimate: float
    chance: float
    adjusted: float | None
    """`None` in a document that does not tell."""
    interval: Interval | None
    n: int

    def behind(self, first: str, sign: int) -> Behind:
        """The same as the difference to the first of a ranking; it is turned round where the sign is below 0."""
        bounds = sorted(sign * bound for bound in (self.interval.lower, self.interval.upper)) if self.interval else None
        return Behind(
            first=first,
            difference=sign * self.estimate,
            lower=bounds[0] if bounds else None,
            upper=bounds[1] if bounds else None,
            chance=self.chance if self.adjusted is None else self.adjusted,
            n=self.n,
        )


Differences = Mapping[tuple[GroupKey, GroupKey], _Difference]


def _ranks(values: Mapping[GroupKey, tuple[float | None, str]], differences: Differences) -> Iterator[Rank]:
    has_runners = len({key.runner for key in values}) > 1
    names = {key: _name(key, has_runner=has_runners) for key in values}
    ordered = sorted(values, key=lambda key: (values[key][0] is None, -(values[key][0] or 0.0), _name(key)))
    measured = [key for key in ordered if values[key][0] is not None]
    places = _places(measured, differences)
    for key in ordered:
        value, text = values[key]
        yield Rank(
            name=names[key],
            runner=key.runner,
            model=key.model,
            place=places.get(key),
            is_tied=list(places.values()).count(places.get(key, 0)) > 1,
            value=value,
            value_text=text,
            behind=_behind(key, measured[0], names[measured[0]], differences) if key in measured[1:] else None,
        )


def _behind(key: GroupKey, first: GroupKey, name: str, differences: Differences) -> Behind | None:
    if (key, first) in differences:
        return differences[key, first].behind(name, 1)
    return differences[first, key].behind(name, -1) if (first, key) in differences else None


def _places(keys: Sequence[GroupKey], differences: Differences) -> dict[GroupKey, int]:
    """The place of each group: one more than there are that are better beyond chance.

    A document that does not tell the chances for all comparisons together has them allowed for here.
    """
    of_board = {ends: difference for ends, difference in differences.items() if set(ends) <= set(keys)}
    chances = [difference.adjusted for difference in of_board.values() if difference.adjusted is not None]
    if len(chances) < len(of_board):
        chances = holm([difference.chance for difference in of_board.values()])
    places = dict.fromkeys(keys, 1)
    for ((first, second), difference), chance in zip(of_board.items(), chances, strict=True):
        if chance <= RARE and difference.estimate:
            places[second if difference.estimate > 0 else first] += 1
    return places


def _name(key: GroupKey, *, has_runner: bool = True) -> str:
    if not key.model:
        return plain(key.runner, LINE)
    return " · ".join(plain(part, LINE) for part in ((key.runner, key.model) if has_runner else (key.model,)))
