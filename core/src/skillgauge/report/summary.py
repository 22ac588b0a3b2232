"""Fold results into a summary: counts, rates with intervals, latencies, validity.

Pure: numbers in, numbers out. Results arrive ordered by case (`ResultOrder.CASE`), so all that happened to a case
lies together and memory grows only by a few bytes per case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from skillgauge_documents.immutables import immutable

from ..stats import RateInterval, weigh_together
from ..types.arms import GroupKey
from ..types.comparison import Counts, EnginePair, PairSummary
from ..types.results.summaries import Figure, GroupSummary, SuiteSummary, SuiteValidity, Summary
from ..types.results.trials import TrialResult, Unfinished
from ..types.trial import PlanHead, SuiteHead
from .engines import EngineTally
from .groups import GroupTally
from .pairs import PairTally, case_summary, discordant_of, pairs_of
from .spending import SpendingTally

MAX_ERROR_SHARE = 0.25
"""More errors than this make a suite's results invalid."""

_OF_CHOSEN = {"evidence": None, "lift_bounds": None, "noise": None}
"""The facts of a comparison that mean nothing for cases that were chosen for their results."""

_place_of = attrgetter("suite_id", "case_index")
_group_of = attrgetter(*(part.name for part in fields(GroupKey)))
"""The parts of a result's `GroupKey`, which are made, compared and found in a fifth of its time."""

FigureSource = Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]]
"""Asks the suite's format for its own numbers, group by group."""


def summarize(
    head: PlanHead,
    results: Iterable[TrialResult],
    *,
    figures: FigureSource,
    interrupted_attempts: int = 0,
    unfinished: Iterable[Unfinished] = (),
) -> Summary:
    """Fold a run's results.

    Args:
        head: the plan they belong to.
        results: ordered by case; each (case, repeat) of a group at most once.
        figures: the formats' own numbers.
        interrupted_attempts: attempts that left no result.
        unfinished: what was used for trials without a result.
    """
    tally = _RunTally(head)
    tally.add_all(results)
    tally.spent.add_unfinished(unfinished)
    groups, pairs = tally.group_summaries(), tally.pair_summaries()
    counts = Counts.sum(group.counts for group in groups)
    with_figures = _with_figures(tally.suites, groups, pairs, figures)
    if head.is_chosen:
        with_figures = tuple(map(_without_intervals, with_figures))
        pairs = tuple(pair.model_copy(update=_OF_CHOSEN) for pair in pairs)
    return Summary(
        counts=counts,
        groups=with_figures,
        pairs=pairs,
        engines=() if head.is_chosen else tally.engine_pairs,
        validity=tuple(_validity(suite, tally.by_suite.get(suite.id, {})) for suite in head.suites),
        spending=tally.spent.spending,
        interrupted_attempts=interrupted_attempts,
    )


class _RunTally:
    """Everything that is accumulated for a run while its results pass.

    Args:
        head: the plan that the results belong to.
    """

    def __init__(self, head: PlanHead) -> None:
        self.suites = head.suites_by_id
        self._places = {suite.id: place for place, suite in enumerate(head.suites)}
        self.spent = SpendingTally()
        self._head = head
        self._groups: dict[tuple[str, str | None, str, str, str | None], GroupTally] = defaultdict(GroupTally)
        self._pairs: dict[tuple[GroupKey, GroupKey], PairTally] = defaultdict(PairTally)
        self._engines = EngineTally()
        self._has_engines = len(head.runners) > 1 or len(head.models) > 1

    def add_all(self, results: Iterable[TrialResult]) -> None:
        """Add results, which are ordered by case."""
        for (suite_id, _index), of_case in groupby(map(self.spent.counted, results), key=_place_of):
            self._add_case(self.suites.get(suite_id), of_case)

    def _add_case(self, suite: SuiteHead | None, results: Iterable[TrialResult]) -> None:
        is_compared = suite is not None and (self._has_engines or bool(suite.comparisons))
        repeats_of: dict[GroupKey, list[TrialResult]] = {}
        for parts, results_of_group in groupby(results, key=_group_of):
            repeats = list(results_of_group)
            self._groups[parts].add_case(repeats, suite)
            if is_compared:
                repeats_of[repeats[0].group] = repeats
        if suite is not None and is_compared:
            self._add_pairs(suite, repeats_of)

    def _add_pairs(self, suite: SuiteHead, repeats_of: Mapping[GroupKey, Sequence[TrialResult]]) -> None:
        summaries = {group: case_summary(group, repeats, suite) for group, repeats in repeats_of.items()}
        compared = [
            (pair, summaries.get(pair.candidate), summaries.get(pair.baseline)) for pair in pairs_of(suite, summaries)
        ]
        candidates = {group: case for group, case in summaries.items() if not suite.is_baseline(group.arm)}
        if len(candidates) > 1:
            self._engines.add(candidates, compared)
        for pair, ours, theirs in compared:
            discordant = None
            if suite.until_decided:
                discordant = discordant_of(repeats_of.get(pair.candidate, ()), repeats_of.get(pair.baseline, ()))
            self._pairs[pair.candidate, pair.baseline].add(pair, ours, theirs, discordant)

    @cached_property
    def groups(self) -> dict[GroupKey, GroupTally]:
        """The groups that have a result, once all of them were added."""
        return {GroupKey(*parts): group for parts, group in self._groups.items()}

    @cached_property
    def by_suite(self) -> Mapping[str, Mapping[GroupKey, GroupTally]]:
        """The same groups, suite by suite."""
        by_suite: dict[str, dict[GroupKey, GroupTally]] = defaultdict(dict)
        for key, group in self.groups.items():
            by_suite[key.suite_id][key] = group
        return by_suite

    def group_summaries(self) -> list[GroupSummary]:
        """Return the groups in the order of the plan."""
        looks = {suite.id: len(suite.looks) + 1 for suite in self._head.suites}
        ordered = sorted(self.groups.items(), key=lambda item: _group_order(self._places, self.suites, item[0]))
        return [group.summary(key, self._head.seed, looks.get(key.suite_id, 1)) for key, group in ordered]

    @property
    def engine_pairs(self) -> tuple[EnginePair, ...]:
        """Every two engines that ran the same arm."""
        return tuple(self._engines.pairs)

    def pair_summaries(self) -> tuple[PairSummary, ...]:
        """Return the comparisons in the order of the plan."""
        ordered = sorted(self._pairs, key=lambda arms: [_group_order(self._places, self.suites, arm) for arm in arms])
        weighed = weigh_together([self._pairs[arms].lift for arms in ordered])
        pairs = (
            self._pairs[arms].summary(*arms, evidence, self._head.seed)
            for arms, evidence in zip(ordered, weighed, strict=True)
        )
        return tuple(pair.model_copy(update=self._facts_of(pair)) for pair in pairs)

    def _facts_of(self, pair: PairSummary) -> dict[str, bool]:
        """Return what only the plan and all groups together tell of a comparison."""
        comparisons = self.suites[pair.candidate.suite_id].comparisons
        arms = (pair.candidate.arm, pair.baseline.arm)
        same = any(one.is_same for one in comparisons if (one.candidate, one.baseline) == arms)
        return {"is_valid": self._is_valid(pair.candidate, pair.baseline), "is_same": same}

    def _is_valid(self, candidate: GroupKey, baseline: GroupKey) -> bool:
        """Tell whether a comparison proves anything: few errors, and no session that could not be replayed."""
        empty = GroupTally()
        ours, theirs = self.groups.get(candidate, empty), self.groups.get(baseline, empty)
        errors = _ErrorCount(len(ours.errored | theirs.errored), ours.ran, "pairs")
        return bool(errors.total) and not errors.reason and not ours.unplayed and not theirs.unplayed


def _with_figures(
    heads: Mapping[str, SuiteHead], groups: Sequence[GroupSummary], pairs: Sequence[PairSummary], figures: FigureSource
) -> tuple[GroupSummary, ...]:
    by_group: dict[GroupKey, tuple[Figure, ...]] = {}
    groups_of: dict[str, list[GroupSummary]] = defaultdict(list)
    pairs_of_suite: dict[str, list[PairSummary]] = defaultdict(list)
    for group in groups:
        groups_of[group.suite_id].append(group)
    for pair in pairs:
        pairs_of_suite[pair.candidate.suite_id].append(pair)
    for suite_id, of_suite in groups_of.items():
        if suite_id in heads:
            summary = SuiteSummary(suite=heads[suite_id], groups=tuple(of_suite), pairs=tuple(pairs_of_suite[suite_id]))
            by_group |= figures(summary)
    return tuple(_with_own(group, by_group.get(group.key, ())) for group in groups)


def _with_own(group: GroupSummary, figures: tuple[Figure, ...]) -> GroupSummary:
    """Return a group with the numbers of its format.

    One that stands for the group leaves it no pass rate: that would mix what the format keeps apart, as would the rates
    by tag.
    """
    changes: dict[str, object] = {"figures": (*figures, *group.figures)}
    if any(figure.is_headline for figure in figures):
        none = RateInterval(rate=None, n=group.pass_rate.n, clusters=group.pass_rate.clusters)
        steady = replace(group.reliability, pass_hat_k=None) if group.reliability else None
        changes |= {"pass_rate": none, "pass_bounds": None, "run_pass_rates": (), "tags": (), "reliability": steady}
    return group.model_copy(update=changes)


def _without_intervals(group: GroupSummary) -> GroupSummary:
    """The same of cases that were chosen for their results: they stand for no others, so no interval has a meaning."""
    return group.model_copy(
        update={
            "pass_rate": group.pass_rate.bare,
            "tags": tuple(tag.model_copy(update={"pass_rate": tag.pass_rate.bare}) for tag in group.tags),
            "figures": tuple(figure.model_copy(update={"interval": None}) for figure in group.figures),
        }
    )


def _group_order(places: Mapping[str, int], suites: Mapping[str, SuiteHead], key: GroupKey) -> tuple[Any, ...]:
    """Suites, targets and arms in the order of the plan."""
    if key.suite_id not in places:
        return (len(places), 0, 0, key.runner, key.model or "")
    suite = suites[key.suite_id]
    targets = [target.id for target in suite.targets]
    place = (places[key.suite_id], _place(key.target_id, targets), _place(key.arm, suite.arms))
    return (*place, key.runner, key.model or "")


def _place(name: str | None, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


@immutable
class _ErrorCount:
    """The number of trials of a suite, or of its pairs of trials, that ended in an error."""

    errors: int
    total: int
    unit: str

    @property
    def share(self) -> float:
        return self.errors / self.total

    @property
    def reason(self) -> str:
        """The reason why the suite is invalid; empty if it is valid."""
        if self.share <= MAX_ERROR_SHARE:
            return ""
        ended = f"{self.errors} of {self.total} {self.unit} ended in an error"
        return f"{ended}; more than {MAX_ERROR_SHARE:.0%} prove nothing"


def _validity(suite: SuiteHead, groups: Mapping[GroupKey, GroupTally]) -> SuiteValidity:
    """Tell whether too many trials of a suite, or pairs of them, ended in an error."""
    if suite.trial_count == 0:
        return SuiteValidity(suite_id=suite.id, valid=True, error_share=None, reason="nothing was selected")
    counts = _error_counts(suite, groups)
    total = sum(count.total for count in counts.values())
    if total == 0:
        if Counts.sum(group.all.counts for group in groups.values()).skipped == suite.trial_count:
            return SuiteValidity(suite_id=suite.id, valid=True, error_share=None, reason="every case was skipped")
        return SuiteValidity(suite_id=suite.id, valid=False, error_share=None, reason="nothing was run")
    reason = _unplayed_reason(groups) or _worst_reason(counts)
    share = sum(count.errors for count in counts.values()) / total
    return SuiteValidity(suite_id=suite.id, valid=not reason, error_share=share, reason=reason)


def _worst_reason(counts: Mapping[GroupKey | None, _ErrorCount]) -> str:
    """Return why the worst of several comparisons is invalid, with engine and model; empty if it is valid."""
    ran = {key: count for key, count in counts.items() if count.total}
    worst = max(ran, key=lambda key: ran[key].share)
    reason = ran[worst].reason
    if worst is None or len(ran) == 1 or not reason:
        return reason
    made_by = " · ".join(filter(None, (worst.runner, worst.model)))
    return f"{made_by}: {reason}"


def _error_counts(suite: SuiteHead, groups: Mapping[GroupKey, GroupTally]) -> dict[GroupKey | None, _ErrorCount]:
    """Count the errors of each comparison, by the group of its candidate arm; without any those of all trials."""
    if not suite.compared:
        return {None: _trials_with_errors(groups)}
    counts: dict[GroupKey | None, _ErrorCount] = {}
    for comparison in suite.compared:
        for key, candidate in groups.items():
            if key.arm == comparison.candidate:
                baseline = groups.get(key.in_arm(comparison.baseline), GroupTally())
                counts[key] = _ErrorCount(len(candidate.errored | baseline.errored), candidate.ran, "pairs")
    return counts


def _trials_with_errors(groups: Mapping[GroupKey, GroupTally]) -> _ErrorCount:
    errors = sum(group.all.counts.errors for group in groups.values())
    return _ErrorCount(errors, sum(group.ran for group in groups.values()), "trials")


def _unplayed_reason(groups: Mapping[GroupKey, GroupTally]) -> str:
    """Say which sessions could not be replayed; a single one is too many, since a replay misses nothing by chance."""
    unplayed = [group for group in groups.values() if group.unplayed]
    if not unplayed:
        return ""
    sessions = sum(group.unplayed for group in unplayed)
    return f"{sessions} sessions could not be replayed; the first: {unplayed[0].why_unplayed}"
