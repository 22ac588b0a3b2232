"""Fold results into a summary: counts, rates with intervals, latencies, validity.

Pure: numbers in, numbers out. Results arrive ordered by case (`ResultOrder.CASE`), so all that happened to a case
lies together and memory grows only by a few bytes per case.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from operator import add, attrgetter

from ..stats import Latency, RateTally, ReliabilityTally, RunRates, Spread, WeightedMean
from ..types.comparison import CaseSummary, Counts, GroupKey, PairSummary
from ..types.result import (
    Figure,
    GroupSummary,
    Spending,
    SuiteSummary,
    SuiteValidity,
    Summary,
    TagSummary,
    TrialResult,
    Unfinished,
    Verdict,
)
from ..types.score import ScoreStatus
from ..types.trial import Blame, PlanHead, SuiteHead
from .pairs import PairTally, case_summary, counts_of, pairs_of

MAX_ERROR_SHARE = 0.25
"""More errors than this make a suite's results invalid."""

_PASSED = {Verdict.PASS: True, Verdict.SKIPPED: None}
_place_of = attrgetter("suite_id", "case_index")
_group_of = attrgetter(*(one.name for one in fields(GroupKey)))
"""The parts of a result's `GroupKey`, which are made, compared and found in a fifth of its time."""

FigureSource = Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]]
"""Asks the suite's format for its own numbers, group by group."""


@dataclass
class _Tally:
    """Counts and pass rate of some set of trials."""

    _sums: list[int] = field(default_factory=lambda: [0] * len(Counts.model_fields))
    """Of the fields of `Counts`."""
    passing: RateTally = field(default_factory=RateTally)

    def add_case(self, counts: Counts, cluster: str) -> None:
        self._sums = [*map(add, self._sums, vars(counts).values())]
        self.passing.add(counts.pass_share, counts.pass_bounds, cluster)

    @property
    def counts(self) -> Counts:
        return Counts(**dict(zip(Counts.model_fields, self._sums, strict=True)))


@dataclass
class _Group:
    """Everything that is accumulated for one suite, target, arm, runner and model."""

    all: _Tally = field(default_factory=_Tally)
    tags: dict[str, _Tally] = field(default_factory=dict)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    runs: RunRates = field(default_factory=RunRates)
    value: WeightedMean = field(default_factory=WeightedMean)
    weighted_value: WeightedMean = field(default_factory=WeightedMean)
    error_weight: float = 0.0
    unplayed: int = 0
    """Sessions that were to be replayed and could not be."""
    why_unplayed: str = ""
    """What the first of them says."""
    beside: dict[str, Spread] = field(default_factory=dict)
    """Whether checks beside the verdict passed, by their id."""
    repeated: ReliabilityTally = field(default_factory=ReliabilityTally)
    errored: set[tuple[int, int]] = field(default_factory=set)
    """(case, repeat) of errors, so that pairs with an error in either arm can be counted."""

    @property
    def ran(self) -> int:
        return self.all.counts.total - self.all.counts.skipped

    def add_case(self, results: Sequence[TrialResult]) -> None:
        counts = counts_of(results)
        self.all.add_case(counts, results[0].cluster)
        self.repeated.add(counts.passed + counts.failed, counts.passed)
        for tag in results[0].tags:
            self.tags.setdefault(tag, _Tally()).add_case(counts, results[0].cluster)
        for result in results:
            self._add(result)

    def _add(self, result: TrialResult) -> None:
        self.runs.add(result.repeat, passed=_PASSED.get(result.verdict, False))
        execution, failure = result.execution, result.execution.failure
        if execution.duration_s is not None:
            self.latencies.append(execution.duration_s)
        if failure is not None and execution.replayed and failure.blame is Blame.INFRASTRUCTURE:
            self.unplayed += 1
            self.why_unplayed = self.why_unplayed or failure.message
        if result.verdict is Verdict.ERROR:
            self.errored.add((result.case_index, result.repeat))
            self.error_weight += result.weight
        elif result.value is not None:
            self.value.add(result.value)
            self.weighted_value.add(result.value, result.weight)
        for score in result.scores:
            if score.beside and score.status is not ScoreStatus.UNGRADED:
                self.beside.setdefault(score.check_id, Spread()).add(score.status is ScoreStatus.PASSED)

    def summary(self, key: GroupKey, seed: int, looks: int) -> GroupSummary:
        repeats, counts = self.runs.repeats, self.all.counts
        return GroupSummary(
            **asdict(key),
            counts=counts,
            pass_rate=self.all.passing.rate(repeats, seed, looks),
            pass_bounds=self.all.passing.bounds if counts.errors else None,
            mean_value=self.value.mean,
            weighted_value=self.weighted_value.mean,
            graded_weight=self.weighted_value.weight,
            error_weight=self.error_weight,
            run_pass_rates=self.runs.rates,
            latency=Latency.of(self.latencies),
            reliability=self.repeated.reliability,
            tags=tuple(
                TagSummary(tag=tag, counts=tally.counts, pass_rate=tally.passing.rate(repeats, seed, looks))
                for tag, tally in sorted(self.tags.items())
            ),
            figures=tuple(_figure(*one) for one in self.beside.items()),
        )


def _figure(check: str, passed: Spread) -> Figure:
    return Figure(name=check, label=check, value=passed.mean, unit="ratio", n=passed.n)


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
    tallied: dict[tuple[str, str | None, str, str, str | None], _Group] = defaultdict(_Group)
    pairs: dict[tuple[GroupKey, GroupKey], PairTally] = defaultdict(PairTally)
    heads = {suite.id: suite for suite in head.suites}
    spent = _Spent()
    for (suite_id, _index), of_case in groupby(map(spent.counted, results), key=_place_of):
        suite, summaries = heads.get(suite_id), dict[GroupKey, CaseSummary]()
        for parts, found in groupby(of_case, key=_group_of):
            repeats = list(found)
            tallied[parts].add_case(repeats)
            if suite and suite.comparisons:
                summaries[repeats[0].group] = case_summary(repeats[0].group, repeats, suite.looks)
        for pair in pairs_of(suite, summaries) if suite and summaries else ():
            arms = pair.candidate, pair.baseline
            pairs[arms].add(pair, *map(summaries.get, arms))
    spent.count_unfinished(unfinished)
    groups = {GroupKey(*parts): group for parts, group in tallied.items()}
    ordered = sorted(groups, key=lambda key: _group_order(head, key))
    compared = sorted(pairs, key=lambda keys: [_group_order(head, key) for key in keys])
    looks = {suite.id: len(suite.looks) + 1 for suite in head.suites}
    summaries_of = [groups[key].summary(key, head.seed, looks.get(key.suite_id, 1)) for key in ordered]
    pair_summaries = tuple(pairs[keys].summary(*keys) for keys in compared)
    with_figures = _with_figures(heads, summaries_of, pair_summaries, figures)
    if head.is_chosen:
        with_figures = tuple(map(_without_intervals, with_figures))
        pair_summaries = tuple(
            pair.model_copy(update={"evidence": None, "lift_bounds": None}) for pair in pair_summaries
        )
    return Summary(
        counts=Counts.sum(group.counts for group in summaries_of),
        groups=with_figures,
        pairs=pair_summaries,
        validity=tuple(_validity(suite, groups) for suite in head.suites),
        spending=spent.spending,
        interrupted_attempts=interrupted_attempts,
    )


class _Spent:
    """Adds up what results used while they pass."""

    def __init__(self) -> None:
        self._cost, self._tokens, self._unknown, self._replayed, self._told = 0.0, 0, 0, 0, False
        self._cut_off = 0

    def counted(self, result: TrialResult) -> TrialResult:
        execution, usages = result.execution, result.usages
        known = [usage for usage in usages if usage]
        if known or execution.trajectory is not None or execution.replayed:
            is_untold = execution.trajectory is not None and len(known) < len(usages)
            self._replayed += execution.replayed
            self._told = self._told or bool(known)
            cut_off = [one for one in result.given_up if one.is_cut_off] if result.given_up else []
            self._cut_off += len(cut_off)
            is_untold = is_untold or any(None in attempt.usages for attempt in cut_off)
            self._unknown += is_untold or None in [usage.cost_usd for usage in known]
            self._cost += sum([usage.cost_usd or 0.0 for usage in known])
            self._tokens += sum([usage.all_tokens for usage in known])
        return result

    def count_unfinished(self, unfinished: Iterable[Unfinished]) -> None:
        """Add what was used for trials that have no result; one trial may come with several claims."""
        unknown = set()
        for trial in unfinished:
            usages = [usage for attempt in trial.attempts for usage in attempt.usages]
            known = [usage for usage in usages if usage]
            if len(known) < len(usages) or None in [usage.cost_usd for usage in known]:
                unknown.add(trial.trial_id)
            self._told = True
            self._cost += sum([usage.cost_usd or 0.0 for usage in known])
            self._tokens += sum([usage.all_tokens for usage in known])
            self._cut_off += sum(attempt.is_cut_off for attempt in trial.attempts)
        self._unknown += len(unknown)

    @property
    def spending(self) -> Spending | None:
        if not self._told and not self._replayed:
            return None
        return Spending(
            cost_usd=self._cost,
            tokens=self._tokens,
            unknown=self._unknown,
            replayed=self._replayed,
            cut_off=self._cut_off,
        )


def _with_figures(
    heads: Mapping[str, SuiteHead], groups: Sequence[GroupSummary], pairs: Sequence[PairSummary], figures: FigureSource
) -> tuple[GroupSummary, ...]:
    known: dict[GroupKey, tuple[Figure, ...]] = {}
    for suite_id in dict.fromkeys(group.suite_id for group in groups):
        if suite_id in heads:
            mine = tuple(group for group in groups if group.suite_id == suite_id)
            compared = tuple(pair for pair in pairs if pair.candidate.suite_id == suite_id)
            known |= figures(SuiteSummary(suite=heads[suite_id], groups=mine, pairs=compared))
    return tuple(one.model_copy(update={"figures": (*known.get(one.key, ()), *one.figures)}) for one in groups)


def _without_intervals(group: GroupSummary) -> GroupSummary:
    """The same of cases that were chosen for their results: they stand for no others, so no interval has a meaning."""
    return group.model_copy(
        update={
            "pass_rate": group.pass_rate.bare,
            "tags": tuple(tag.model_copy(update={"pass_rate": tag.pass_rate.bare}) for tag in group.tags),
            "figures": tuple(figure.model_copy(update={"interval": None}) for figure in group.figures),
        }
    )


def _group_order(head: PlanHead, key: GroupKey) -> tuple[int, int, int, str, str]:
    """Suites, targets and arms in the order of the plan."""
    for position, suite in enumerate(head.suites):
        if suite.id == key.suite_id:
            targets = [target.id for target in suite.targets]
            return (position, _place(key.target_id, targets), _place(key.arm, suite.arms), key.runner, key.model or "")
    return (len(head.suites), 0, 0, key.runner, key.model or "")


def _place(name: str | None, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


def _validity(suite: SuiteHead, groups: dict[GroupKey, _Group]) -> SuiteValidity:
    """Whether too many trials, or pairs of them, ended in an error."""
    mine = {key: group for key, group in groups.items() if key.suite_id == suite.id}
    if suite.compared:
        pairs = [
            (group, mine.get(key.in_arm(one.baseline), _Group()))
            for one in suite.compared
            for key, group in mine.items()
            if key.arm == one.candidate
        ]
        errors = sum(len(ours.errored | theirs.errored) for ours, theirs in pairs)
        unit, total = "pairs", sum(ours.ran for ours, _ in pairs)
    else:
        errors = sum(group.all.counts.errors for group in mine.values())
        unit, total = "trials", sum(group.ran for group in mine.values())
    if suite.trial_count == 0:
        return SuiteValidity(suite_id=suite.id, valid=True, error_share=None, reason="nothing was selected")
    if total == 0:
        return SuiteValidity(suite_id=suite.id, valid=False, error_share=None, reason="nothing was run")
    share = errors / total
    reason = ""
    if unplayed := sum(group.unplayed for group in mine.values()):  # one is too many: a replay misses nothing by chance
        first = next(group.why_unplayed for group in mine.values() if group.unplayed)
        reason = f"{unplayed} sessions could not be replayed; the first: {first}"
    elif share > MAX_ERROR_SHARE:
        reason = f"{errors} of {total} {unit} ended in an error; more than {MAX_ERROR_SHARE:.0%} prove nothing"
    return SuiteValidity(suite_id=suite.id, valid=not reason, error_share=share, reason=reason)
