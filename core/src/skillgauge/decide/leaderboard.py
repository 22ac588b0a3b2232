"""Engines and models side by side: with which of them a skill helps most, and with which most passes.

All of them ran the same cases, so any two are compared case by case, and the level allows for how many comparisons that
makes. An engine stands behind another only where a difference is beyond chance. All others share a place, whatever
their figures: an order of numbers that chance made would be read as one of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import UNKNOWN, counted, percent, points, signed_points

from ..report.answer import compared, interval_here_text
from ..report.wording import interval_text
from ..stats import RARE, Interval, RateInterval, holm
from ..types.arms import GroupKey
from ..types.comparison import PairSummary
from ..types.results.runs import RunView


class RankedBy(StrEnum):
    """The figure that engines are ranked by."""

    PASS_RATE = "pass_rate"
    LIFT = "lift"


class _Words(NamedTuple):
    """The words for a figure that engines are ranked by, with `{arm}` for the arm that has it."""

    leads: str
    most: str
    head: str
    text: Callable[[float | None], str]


_WORDS = {
    RankedBy.PASS_RATE: _Words(
        "the pass rate of {arm} is highest", "the highest pass rate of {arm}", "Pass rate of {arm}", percent
    ),
    RankedBy.LIFT: _Words("the lift is greatest", "the greatest lift", "Lift", points),
}


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
        words, arm = _WORDS[self.by], plain(self.arm)
        first = [rank for rank in self.ranks if rank.place == 1]
        if not first:
            return f"{self.title}: nothing was compared with any engine"
        names = ", ".join(rank.name for rank in first)
        values = [words.text(rank.value) for rank in (first[0], first[-1])]
        if len(first) == 1:
            return f"{self.title}: {words.leads.format(arm=arm)} with {names} ({values[0]})"
        span = " to ".join(dict.fromkeys(values))
        return f"{self.title}: which of {names} has {words.most.format(arm=arm)} cannot be told ({span})"

    @property
    def heads(self) -> tuple[str, ...]:
        """Heads of the columns: the place, the engine, its figure, and how far it is behind the first."""
        return ("Place", "Engine", _WORDS[self.by].head.format(arm=plain(self.arm)), "Behind the first")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Texts for these columns."""
        return [(rank.place_text, rank.name, rank.value_text, rank.behind_text) for rank in self.ranks]


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
        title = plain(key.subject)
        if len(many) > 1:
            title += f" · {plain(key.arm)} against {plain(baseline)}"
        ranks = _ranks(values, _lift_differences(view, baseline))
        yield _ranking(RankedBy.LIFT, key, baseline, title, ranks)


def _lift_differences(view: RunView, baseline: str) -> Differences:
    return {
        (pair.first, pair.second): _Difference(
            pair.lift, pair.lift_chance, pair.lift_adjusted, pair.lift_interval, pair.n
        )
        for pair in view.summary.engines
        if pair.baseline == baseline and pair.lift is not None and pair.lift_chance is not None
    }


def _by_passes(view: RunView) -> Iterator[Ranking]:
    rates = _valid_rates(view)
    boards: dict[tuple[str, str | None, str], dict[GroupKey, tuple[float | None, str]]] = {}
    for pair in view.summary.engines:
        for key in (pair.first, pair.second):
            if key in rates:
                values = boards.setdefault((key.suite_id, key.target_id, key.arm), {})
                values[key] = (rates[key].rate, _rate_text(rates[key]))
    differences = {
        (pair.first, pair.second): _Difference(
            pair.passed, pair.passed_chance, pair.passed_adjusted, pair.passed_interval, pair.passed_n
        )
        for pair in view.summary.engines
    }
    for values in boards.values():
        if len(values) > 1:
            key = next(iter(values))
            yield _ranking(RankedBy.PASS_RATE, key, None, plain(key.subject), _ranks(values, differences))


def _ranking(by: RankedBy, key: GroupKey, baseline: str | None, title: str, ranks: Iterable[Rank]) -> Ranking:
    return Ranking(
        by=by,
        suite=key.suite_id,
        target=key.target_id,
        arm=key.arm,
        baseline=baseline,
        title=title,
        ranks=tuple(ranks),
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
    bounds = f"these cases: {interval_here_text(evidence)}"
    return f"{points(evidence.estimate)} ({bounds}, n = {counted(evidence.n, 'case')})"


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
        bounds: Sequence[float | None] = (None, None)
        if self.interval:
            bounds = sorted((sign * self.interval.lower, sign * self.interval.upper))
        return Behind(
            first=first,
            difference=sign * self.estimate,
            lower=bounds[0],
            upper=bounds[1],
            chance=self.chance if self.adjusted is None else self.adjusted,
            n=self.n,
        )


Differences = Mapping[tuple[GroupKey, GroupKey], _Difference]


def _ranks(values: Mapping[GroupKey, tuple[float | None, str]], differences: Differences) -> Iterator[Rank]:
    names = _names(values)
    ordered = sorted(values, key=lambda key: (values[key][0] is None, -(values[key][0] or 0.0), _full_name(key)))
    measured = [key for key in ordered if values[key][0] is not None]
    places = _places(measured, differences)
    behind = {key: _behind(key, measured[0], names[measured[0]], differences) for key in measured[1:]}
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
            behind=behind.get(key),
        )


def _behind(key: GroupKey, first: GroupKey, name: str, differences: Differences) -> Behind | None:
    for ends, sign in (((key, first), 1), ((first, key), -1)):
        if ends in differences:
            return differences[ends].behind(name, sign)
    return None


def _places(keys: Sequence[GroupKey], differences: Differences) -> dict[GroupKey, int]:
    """The place of each group: one more than there are that are better beyond chance."""
    of_board = {ends: difference for ends, difference in differences.items() if set(ends) <= set(keys)}
    places = dict.fromkeys(keys, 1)
    for ((first, second), difference), chance in zip(of_board.items(), _chances(of_board.values()), strict=True):
        if chance <= RARE and difference.estimate:
            places[second if difference.estimate > 0 else first] += 1
    return places


def _chances(differences: Collection[_Difference]) -> list[float]:
    """The chance of each difference, allowing for all of them; a document that does not tell has that done here."""
    chances = [difference.adjusted for difference in differences if difference.adjusted is not None]
    if len(chances) == len(differences):
        return chances
    return holm([difference.chance for difference in differences])


def _names(keys: Collection[GroupKey]) -> dict[GroupKey, str]:
    """The names of engines that are shown together: the models alone where all of them run in the same engine."""
    if len({key.runner for key in keys}) > 1:
        return {key: _full_name(key) for key in keys}
    return {key: plain(key.model or key.runner) for key in keys}


def _full_name(key: GroupKey) -> str:
    return " · ".join(map(plain, filter(None, (key.runner, key.model))))
