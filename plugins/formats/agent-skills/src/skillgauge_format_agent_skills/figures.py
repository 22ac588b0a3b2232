"""The numbers of the format."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skillgauge.api import SuiteHead
from skillgauge.api.report import Figure, GroupSummary, TagSummary
from skillgauge.stats import RateInterval

from .recognition.shapes import TRIGGERS
from .suites.cases import FIRED, SILENT
from .suites.triggers import SHOULD, SHOULD_NOT, split_tag

BALANCED = "balanced_accuracy"
"""Mean of the two rates of a suite of queries: one rate over all of them would call a skill good that never fires."""
MOVER = "mover"
"""Method of their intervals: the distances of the bounds of two independent rates, squared and added."""


def figures(group: GroupSummary, suite: SuiteHead) -> tuple[Figure, ...]:
    """A group's numbers; `None` where nothing was measured."""
    if suite.dialect != TRIGGERS:
        graded = group.counts.passed + group.counts.failed
        return (Figure(name="pass_rate", label="Expectations met", value=group.mean_value, unit="ratio", n=graded),)
    tags = {tag.tag: tag for tag in group.tags}
    should = tags.get(SHOULD)
    never = should is not None and should.counts.passed == 0 < should.counts.failed
    headline, *others = _sides(should, tags.get(SHOULD_NOT), "")
    note = "the skill never fired, whatever was asked" if never else ""
    return (
        headline.model_copy(update={"is_headline": True, "note": note, "subject": "trigger queries"}),
        *others,
        *(figure for split in _splits(tags) for figure in _of_split(split, tags)),
    )


def _splits(tags: Mapping[str, TagSummary]) -> list[str]:
    """Parts of the set, such as train and held-out queries."""
    return [tag for tag in tags if any(split_tag(tag, side) in tags for side in (SHOULD, SHOULD_NOT))]


def _of_split(split: str, tags: Mapping[str, TagSummary]) -> Iterator[Figure]:
    """The same numbers of one part: a description fitted to its train queries is right on those alone."""
    should, silent = (tags.get(split_tag(split, side)) for side in (SHOULD, SHOULD_NOT))
    yield from _sides(should, silent, split)


def _sides(should: TagSummary | None, silent: TagSummary | None, split: str) -> Iterator[Figure]:
    """Balanced accuracy, recall, specificity and precision of a set or a part of it, each over its queries."""
    sides = [tag for tag in (should, silent) if tag and tag.pass_rate.rate is not None]
    has_errors = any(tag.counts.errors for tag in (should, silent) if tag)
    recall, specificity = (tag.pass_rate if tag else None for tag in (should, silent))
    precision = precision_rate(recall, specificity) if recall and specificity else None
    bounds = _bounds(sides) if has_errors else None
    yield _figure(BALANCED, "Balanced accuracy", split, _balanced(sides)).model_copy(update={"bounds": bounds})
    yield _figure("trigger_rate", f"Recall ({_lower(FIRED)})", split, recall)
    yield _figure("silence_rate", f"Specificity ({_lower(SILENT)})", split, specificity)
    yield _figure("trigger_precision", "Precision (of this mix of queries)", split, precision)


def _figure(name: str, label: str, split: str, rate: RateInterval | None) -> Figure:
    if split:
        name, label = f"{name}:{split}", f"{label} ({split})"
    return Figure(name=name, label=label, unit="ratio", value=rate.rate if rate else None, interval=rate)


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _balanced(sides: Sequence[TagSummary]) -> RateInterval | None:
    """Return the mean of the sides that are known, of which there may be one."""
    rates = [tag.pass_rate for tag in sides]
    return balanced_rate(*rates) if len(rates) == 2 else next(iter(rates), None)


def _mean(rates: Sequence[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def _bounds(sides: Sequence[TagSummary]) -> tuple[float, float] | None:
    """The mean if all errors had been fails, and if all had been passes."""
    ends = [tag.counts.pass_bounds for tag in sides]
    low, high = (_mean([end[at] if end else None for end in ends]) for at in (0, 1))
    return None if low is None or high is None else (low, high)


def balanced_rate(first: RateInterval, second: RateInterval) -> RateInterval:
    """Mean of two rates over different cases, as recall and specificity are: each counts half, however many cases.

    The variance of the mean is a quarter of the sum of theirs; so its bounds lie half the root of the summed squares of
    their distances away. Wilson's bounds are right at few cases and extreme rates, and what is made of them is, too.

    >>> rate = balanced_rate(RateInterval(0.0, 2, 0.0, 0.66), RateInterval(1.0, 8, 0.68, 1.0))
    >>> f"{rate.rate:.2f}, {rate.lower:.2f} to {rate.upper:.2f}, n = {rate.n}"
    '0.50, 0.34 to 0.83, n = 10'

    Args:
        first: A rate with its bounds.
        second: A rate over other cases.

    Returns:
        The mean with bounds, over the cases of both; no rate if one is unknown, and no bounds if one has none.

    Raises:
        Nothing.

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10, as generalised (MOVER) by G. Y. Zou,
    A. Donner, Statistics in Medicine 27 (2008) 1693-1702.
    """
    if first.rate is None or second.rate is None:
        return RateInterval(None, first.n + second.n)
    mean = (first.rate + second.rate) / 2
    if first.lower is None or first.upper is None or second.lower is None or second.upper is None:
        return _of_both(first, second, mean, None)
    below = math.hypot(first.rate - first.lower, second.rate - second.lower) / 2
    above = math.hypot(first.upper - first.rate, second.upper - second.rate) / 2
    return _of_both(first, second, mean, (max(0.0, mean - below), min(1.0, mean + above)))


def precision_rate(recall: RateInterval, specificity: RateInterval) -> RateInterval | None:
    """Share of hits among all that fired, for a set of cases with this mix of the two kinds.

    It is a function of the ratio of false alarms to hits, two independent counts, whose bounds come from those of the
    rates as in `balanced_rate`.

    >>> rate = precision_rate(RateInterval(0.8, 10, 0.49, 0.94), RateInterval(0.9, 10, 0.6, 0.98))
    >>> f"{rate.rate:.2f}, {rate.lower:.2f} to {rate.upper:.2f}, n = {rate.n}"
    '0.89, 0.64 to 0.98, n = 20'

    Args:
        recall: Rate of those that should fire.
        specificity: Rate of those that should not, of staying silent.

    Returns:
        The share with bounds, over the cases of both; ``None`` if nothing fired or a rate is unknown.

    Raises:
        Nothing.

    Source: A. Donner, G. Y. Zou, Statistical Methods in Medical Research 21 (2012) 347-359 (MOVER for a ratio).
    """
    if recall.rate is None or specificity.rate is None:
        return None
    hits, alarms = recall.rate * recall.n, (1.0 - specificity.rate) * specificity.n
    if hits + alarms == 0.0:
        return None
    share = hits / (hits + alarms)
    bounds = (recall.lower, recall.upper, specificity.lower, specificity.upper)
    least, most, silent, most_silent = (0.0 if bound is None else bound for bound in bounds)
    if None in bounds:
        return _of_both(recall, specificity, share, None)
    fewest_hits, most_hits = least * recall.n, most * recall.n
    fewest_alarms, most_alarms = (1.0 - most_silent) * specificity.n, (1.0 - silent) * specificity.n
    lower = _least_share(hits, fewest_hits, alarms, most_alarms)
    upper = 1.0 - _least_share(alarms, fewest_alarms, hits, most_hits)
    return _of_both(recall, specificity, share, (min(lower, share), max(upper, share)))


def _least_share(part: float, least: float, rest: float, most: float) -> float:
    """Return the lower bound of part / (part + rest), of which the first is at least and the second at most so much."""
    if least == 0.0:
        return 0.0
    of_part, of_rest = least * (2.0 * part - least), most * (2.0 * rest - most)
    product = part * rest
    odds = of_part / (product + math.sqrt(max(0.0, product * product - of_part * of_rest)))
    return odds / (1.0 + odds)


def _of_both(
    first: RateInterval, second: RateInterval, value: float, bounds: tuple[float, float] | None
) -> RateInterval:
    """Return a figure of two rates, over the cases of both."""
    clusters = None
    if first.clusters or second.clusters:
        clusters = (first.clusters or first.n) + (second.clusters or second.n)
    rate = RateInterval(value, first.n + second.n, level=first.level, clusters=clusters)
    if bounds is None:
        return rate
    return replace(rate, lower=bounds[0], upper=bounds[1], method=MOVER)
