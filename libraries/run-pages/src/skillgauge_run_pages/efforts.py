"""The effort of sessions, group by group: time, tokens and cost, as boxes on a common scale and against quality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, quantiles

from skillgauge.api import TrialResult, Verdict
from skillgauge.api.report import GroupKey, GroupSummary, duration

from .wording import dollars

SCALE = 200
"""Width of a box plot, in its own units."""
WIDTH, HEIGHT = 480, 220
"""Size of the picture of cost and quality."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 12, 32
_GRADED = frozenset({Verdict.PASS, Verdict.FAIL})
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of the points of a picture; groups beyond them are only in the table."""


@dataclass(frozen=True)
class Measure:
    """Something that a session takes."""

    title: str
    of: Callable[[TrialResult], float | None]
    """The amount of a trial; `None` is unknown."""
    shown: Callable[[float], str]


def _time(result: TrialResult) -> float | None:
    return result.execution.duration_s


def _tokens(result: TrialResult) -> float | None:
    usage = result.execution.usage
    if usage is None or (usage.total_tokens is None and (usage.input_tokens is None or usage.output_tokens is None)):
        return None
    return usage.all_tokens


def _cost(result: TrialResult) -> float | None:
    return result.execution.usage.cost_usd if result.execution.usage else None


def _rounded(value: float) -> str:
    return f"{value:,.0f}"


COST = Measure("Cost", _cost, dollars)
MEASURES = (Measure("Time", _time, duration), Measure("Tokens", _tokens, _rounded), COST)


@dataclass(frozen=True)
class Box:
    """The amounts of a group's graded trials."""

    group: GroupKey
    n: int
    unknown: int
    """Graded trials that do not tell."""
    least: float
    lower: float
    """First quartile."""
    median: float
    upper: float
    """Third quartile."""
    most: float
    mean: float


@dataclass(frozen=True)
class Boxes:
    """The groups of a run by one measure, on a scale from 0 to the largest amount."""

    measure: Measure
    boxes: tuple[Box, ...]

    def place(self, value: float) -> float:
        """Return the place of an amount in the picture."""
        most = max(box.most for box in self.boxes)
        return round(value / most * SCALE, 1) if most else 0.0


@dataclass
class Efforts:
    """Collects what the trials of a run took; a recording took nothing now, and an error is no session."""

    amounts: dict[GroupKey, tuple[list[float | None], ...]] = field(default_factory=dict)

    def add(self, results: Iterable[TrialResult]) -> None:
        """Take some results of the run."""
        for result in results:
            if result.verdict in _GRADED and not result.execution.replayed:
                lists = self.amounts.setdefault(result.group, tuple([] for _ in MEASURES))
                for amounts, measure in zip(lists, MEASURES, strict=True):
                    amounts.append(measure.of(result))

    def boxes(self) -> Iterator[Boxes]:
        """Yield each measure that some group tells."""
        for place, measure in enumerate(MEASURES):
            measured = [_box(group, lists[place]) for group, lists in self.amounts.items()]
            boxes = tuple(box for box in measured if box)
            if boxes:
                yield Boxes(measure, boxes)

    def against_quality(self, groups: Sequence[GroupSummary]) -> Plane | None:
        """Return cost against pass rate; `None` unless two groups tell both."""
        boxes: Mapping[GroupKey, Box] = {}
        for one in self.boxes():
            if one.measure is COST:
                boxes = {box.group: box for box in one.boxes}
        priced = [
            (group, boxes[group.key])
            for group in groups
            if group.key in boxes and not boxes[group.key].unknown and group.pass_rate.rate is not None
        ]
        priced = priced[: len(LETTERS)]
        most = max((box.mean for _, box in priced), default=0.0)
        if len(priced) < 2 or not most:
            return None
        return Plane(tuple(_point(letter, *one, most) for letter, one in zip(LETTERS, priced, strict=False)), most)


def _box(group: GroupKey, amounts: Sequence[float | None]) -> Box | None:
    known = sorted(amount for amount in amounts if amount is not None)
    if not known:
        return None
    lower, median, upper = quantiles(known, n=4, method="inclusive") if len(known) > 1 else known * 3
    unknown = len(amounts) - len(known)
    return Box(group, len(known), unknown, known[0], lower, median, upper, known[-1], fmean(known))


@dataclass(frozen=True)
class Dot:
    """A group in the picture of cost and quality."""

    letter: str
    group: GroupSummary
    cost_usd: float
    """Of a graded trial, on average."""
    x: float
    y: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Plane:
    """Cost against pass rate: cheap on the left, good at the top."""

    dots: tuple[Dot, ...]
    most_usd: float
    """At the right edge."""

    @property
    def summary(self) -> str:
        """The picture in words."""
        parts = [f"{dot.letter} {dollars(dot.cost_usd)}, {dot.group.pass_rate.rate:.0%}" for dot in self.dots]
        return f"Mean cost of a trial against pass rate: {'; '.join(parts)}"

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Heights of the scale, with their words."""
        return tuple((_height(rate), f"{rate:.0%}") for rate in (1.0, 0.5, 0.0))

    @property
    def edges(self) -> tuple[float, float, float]:
        """Left and right edge of the plane, and its floor."""
        return _LEFT, WIDTH - _RIGHT, HEIGHT - _BOTTOM


def _height(rate: float) -> float:
    return round(_TOP + (1 - rate) * (HEIGHT - _TOP - _BOTTOM), 1)


def _point(letter: str, group: GroupSummary, box: Box, most: float) -> Dot:
    rate = group.pass_rate
    middle = rate.rate or 0.0
    return Dot(
        letter,
        group,
        box.mean,
        x=round(_LEFT + box.mean / most * (WIDTH - _LEFT - _RIGHT), 1),
        y=_height(middle),
        top=_height(middle if rate.upper is None else rate.upper),
        bottom=_height(middle if rate.lower is None else rate.lower),
    )
