"""Fold results into a summary: counts, rates with intervals, latencies, validity.

Pure: numbers in, numbers out. Results arrive ordered by case (`ResultOrder.CASE`), so one case's repeats lie
together and memory grows only by a few bytes per case.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..stats import nearest_rank, rate_interval
from ..types.result import (
    Counts,
    Figure,
    GroupSummary,
    Latency,
    RateInterval,
    SuiteValidity,
    Summary,
    TagSummary,
    TrialResult,
    Verdict,
)
from ..types.trial import Blame, FailureClass, PlanHead, SuiteHead

MAX_ERROR_SHARE = 0.25
"""More errors than this make a suite's results invalid."""

FigureSource = Callable[[SuiteHead, GroupSummary], tuple[Figure, ...]]
"""Asks the suite's format for its own numbers."""

GroupKey = tuple[str, str | None, str, str, str | None]


@dataclass
class _Tally:
    """Counts and case means of some set of trials."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    timeouts: int = 0
    broken: int = 0
    case_means: array[float] = field(default_factory=lambda: array("d"))
    counted_cases: int = 0
    least: float = 0.0
    """Sum over cases of the pass share if every error had been a fail."""
    most: float = 0.0
    """The same if every error had been a pass."""

    def add_case(self, results: Sequence[TrialResult]) -> None:
        graded = passed = errors = 0
        for result in results:
            self.total += 1
            match result.verdict:
                case Verdict.PASS:
                    self.passed += 1
                    graded += 1
                    passed += 1
                case Verdict.FAIL:
                    self.failed += 1
                    graded += 1
                case Verdict.ERROR:
                    self.errors += 1
                    errors += 1
                case Verdict.SKIPPED:
                    self.skipped += 1
            failure = result.execution.failure
            if failure is not None:
                self.timeouts += failure.failure_class is FailureClass.TIMEOUT
                self.broken += result.verdict is Verdict.FAIL
        if graded:
            self.case_means.append(passed / graded)
        if graded + errors:
            self.counted_cases += 1
            self.least += passed / (graded + errors)
            self.most += (passed + errors) / (graded + errors)

    @property
    def counts(self) -> Counts:
        return Counts(
            total=self.total,
            passed=self.passed,
            failed=self.failed,
            errors=self.errors,
            skipped=self.skipped,
            timeouts=self.timeouts,
            broken=self.broken,
        )

    def rate(self, repeats: int, seed: int) -> RateInterval:
        means = self.case_means
        if not means:
            return RateInterval(rate=None, n=0)
        interval = rate_interval(means, repeats=repeats, seed=seed)
        return RateInterval(
            rate=sum(means) / len(means),
            n=len(means),
            lower=interval.lower if interval else None,
            upper=interval.upper if interval else None,
            level=interval.level if interval else 0.95,
            method=str(interval.method) if interval else None,
        )


@dataclass
class _Group:
    """Everything that is accumulated for one suite, target, arm, runner and model."""

    all: _Tally = field(default_factory=_Tally)
    tags: dict[str, _Tally] = field(default_factory=dict)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    run_totals: array[int] = field(default_factory=lambda: array("q"))
    run_passes: array[int] = field(default_factory=lambda: array("q"))
    graded: int = 0
    value_sum: float = 0.0
    weight_sum: float = 0.0
    weighted_sum: float = 0.0
    error_weight: float = 0.0
    unplayed: int = 0
    """Sessions that were to be replayed and could not be."""
    why_unplayed: str = ""
    """What the first of them says."""
    errored: set[tuple[int, int]] = field(default_factory=set)
    """(case, repeat) of errors, so that pairs with an error in either arm can be counted."""

    def add_case(self, results: Sequence[TrialResult]) -> None:
        self.all.add_case(results)
        for tag in results[0].tags:
            self.tags.setdefault(tag, _Tally()).add_case(results)
        for result in results:
            self._add(result)

    def _add(self, result: TrialResult) -> None:
        while len(self.run_totals) < result.repeat:
            self.run_totals.append(0)
            self.run_passes.append(0)
        if result.verdict is not Verdict.SKIPPED:
            self.run_totals[result.repeat - 1] += 1
            self.run_passes[result.repeat - 1] += result.verdict is Verdict.PASS
        if result.execution.duration_s is not None:
            self.latencies.append(result.execution.duration_s)
        failure = result.execution.failure
        if failure is not None and result.execution.replayed and failure.blame is Blame.INFRASTRUCTURE:
            self.unplayed += 1
            self.why_unplayed = self.why_unplayed or failure.message
        if result.verdict is Verdict.ERROR:
            self.errored.add((result.case_index, result.repeat))
            self.error_weight += result.weight
        elif result.value is not None:
            self.graded += 1
            self.value_sum += result.value
            self.weight_sum += result.weight
            self.weighted_sum += result.value * result.weight

    def summary(self, key: GroupKey, seed: int) -> GroupSummary:
        suite_id, target_id, arm, runner, model = key
        repeats = len(self.run_totals)
        counts = self.all.counts
        cases = self.all.counted_cases
        return GroupSummary(
            suite_id=suite_id,
            target_id=target_id,
            arm=arm,
            runner=runner,
            model=model,
            counts=counts,
            pass_rate=self.all.rate(repeats, seed),
            pass_bounds=(self.all.least / cases, self.all.most / cases) if counts.errors else None,
            mean_value=self.value_sum / self.graded if self.graded else None,
            weighted_value=self.weighted_sum / self.weight_sum if self.weight_sum else None,
            graded_weight=self.weight_sum,
            error_weight=self.error_weight,
            run_pass_rates=tuple(
                passed / total for passed, total in zip(self.run_passes, self.run_totals, strict=True) if total
            ),
            latency=_latency(self.latencies),
            tags=tuple(
                TagSummary(tag=tag, counts=tally.counts, pass_rate=tally.rate(repeats, seed))
                for tag, tally in sorted(self.tags.items())
            ),
        )


def _latency(seconds: array[float]) -> Latency:
    ordered = sorted(seconds)
    return Latency(
        samples=len(ordered),
        p50_s=nearest_rank(ordered, 0.50),
        p95_s=nearest_rank(ordered, 0.95),
        p99_s=nearest_rank(ordered, 0.99),
    )


def group_key(result: TrialResult) -> GroupKey:
    """What a result is summarised under."""
    return (result.suite_id, result.target_id, result.arm, result.runner, result.model)


def summarize(
    head: PlanHead, results: Iterable[TrialResult], *, figures: FigureSource, interrupted_attempts: int = 0
) -> Summary:
    """Fold a run's results.

    Args:
        head: the plan they belong to.
        results: ordered by case; each (case, repeat) of a group at most once.
        figures: the formats' own numbers.
        interrupted_attempts: attempts that left no result.
    """
    groups: dict[GroupKey, _Group] = {}
    for (key, _index), repeats in _by_case(results):
        groups.setdefault(key, _Group()).add_case(repeats)
    heads = {suite.id: suite for suite in head.suites}
    summaries = []
    for key in sorted(groups, key=lambda key: _group_order(head, key)):
        summary = groups[key].summary(key, head.seed)
        suite = heads.get(key[0])
        summaries.append(summary.model_copy(update={"figures": figures(suite, summary)}) if suite else summary)
    return Summary(
        counts=Counts.sum(summary.counts for summary in summaries),
        groups=tuple(summaries),
        validity=tuple(_validity(suite, groups) for suite in head.suites),
        interrupted_attempts=interrupted_attempts,
    )


def _by_case(results: Iterable[TrialResult]) -> Iterator[tuple[tuple[GroupKey, int], list[TrialResult]]]:
    for key, repeats in groupby(results, key=lambda result: (group_key(result), result.case_index)):
        yield key, list(repeats)


def _group_order(head: PlanHead, key: GroupKey) -> tuple[int, int, int, str, str]:
    """Suites, targets and arms in the order of the plan."""
    suite_id, target_id, arm, runner, model = key
    for position, suite in enumerate(head.suites):
        if suite.id == suite_id:
            targets = [target.id for target in suite.targets]
            return (
                position,
                targets.index(target_id) if target_id in targets else len(targets),
                suite.arms.index(arm) if arm in suite.arms else len(suite.arms),
                runner,
                model or "",
            )
    return (len(head.suites), 0, 0, runner, model or "")


def _validity(suite: SuiteHead, groups: dict[GroupKey, _Group]) -> SuiteValidity:
    """Whether too many trials, or pairs of them, ended in an error."""
    mine = {key: group for key, group in groups.items() if key[0] == suite.id}
    errors = total = 0
    if suite.candidate is not None and suite.baseline is not None:
        for (_, target, arm, runner, model), group in mine.items():
            if arm == suite.candidate:
                other = mine.get((suite.id, target, suite.baseline, runner, model))
                errors += len(group.errored | (other.errored if other else set()))
                total += group.all.total - group.all.skipped
        unit = "pairs"
    else:
        errors = sum(group.all.errors for group in mine.values())
        total = sum(group.all.total - group.all.skipped for group in mine.values())
        unit = "trials"
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
