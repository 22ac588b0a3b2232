"""Add up the trials of a group: counts, rates with intervals, latencies, and the outcomes of its cases."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from operator import add

from ..stats import Latency, RateTally, ReliabilityTally, RunRates, Spread, WeightedMean
from ..types.arms import GroupKey
from ..types.comparison import Counts
from ..types.results.summaries import Figure, GroupSummary, TagSummary
from ..types.results.trials import TrialResult, Verdict
from ..types.score import ScoreStatus
from ..types.trial import Blame, Failure, SuiteHead
from .outcomes import OutcomeTally, outcome_of
from .pairs import counts_of

_PASSED = {Verdict.PASS: True, Verdict.SKIPPED: None}
_MOST_REASONS = 3


@dataclass
class Tally:
    """Counts and pass rate of some set of trials."""

    _sums: list[int] = field(default_factory=lambda: [0] * len(Counts.model_fields))
    """Of the fields of `Counts`."""
    passing: RateTally = field(default_factory=RateTally)

    def add_case(self, counts: Counts, cluster: str) -> None:
        """Take the trials of one more case."""
        self._sums = [*map(add, self._sums, vars(counts).values())]
        self.passing.add(counts.pass_share, counts.pass_bounds, cluster)

    @property
    def counts(self) -> Counts:
        """The trials by verdict."""
        return Counts(**dict(zip(Counts.model_fields, self._sums, strict=True)))


@dataclass
class GroupTally:
    """Everything that is accumulated for one suite, target, arm, runner and model."""

    all: Tally = field(default_factory=Tally)
    tags: dict[str, Tally] = field(default_factory=dict)
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
    outcomes: OutcomeTally = field(default_factory=OutcomeTally)
    repeated: ReliabilityTally = field(default_factory=ReliabilityTally)
    skip_reasons: dict[str, None] = field(default_factory=dict)
    """Why trials were skipped, each reason once."""
    errored: set[tuple[int, int]] = field(default_factory=set)
    """(case, repeat) of errors, so that pairs with an error in either arm can be counted."""

    @property
    def ran(self) -> int:
        """Trials that were not skipped."""
        return self.all.counts.total - self.all.counts.skipped

    def add_case(self, results: Sequence[TrialResult], suite: SuiteHead | None) -> None:
        """Take the repeats of one more case; the suite knows its rule and what is in quarantine."""
        counts = counts_of(results)
        self.outcomes.add(outcome_of(counts, results, suite))
        self.all.add_case(counts, results[0].cluster)
        self.repeated.add(counts.passed + counts.failed, counts.passed)
        for tag in results[0].tags:
            self.tags.setdefault(tag, Tally()).add_case(counts, results[0].cluster)
        for result in results:
            self._add(result)

    def _add(self, result: TrialResult) -> None:
        self.runs.add(result.repeat, passed=_PASSED.get(result.verdict, False))
        execution = result.execution
        if result.verdict is Verdict.SKIPPED and len(self.skip_reasons) < _MOST_REASONS:
            self.skip_reasons.update(dict.fromkeys(execution.notes[:1]))
        if execution.duration_s is not None:
            self.latencies.append(execution.duration_s)
        if execution.replayed and execution.failure is not None:
            self._add_replay(execution.failure)
        self._add_value(result)
        for score in result.scores:
            if score.beside and score.status is not ScoreStatus.UNGRADED:
                self.beside.setdefault(score.check_id, Spread()).add(score.status is ScoreStatus.PASSED)

    def _add_replay(self, failure: Failure) -> None:
        if failure.blame is Blame.INFRASTRUCTURE:
            self.unplayed += 1
            self.why_unplayed = self.why_unplayed or failure.message

    def _add_value(self, result: TrialResult) -> None:
        if result.verdict is Verdict.ERROR:
            self.errored.add((result.case_index, result.repeat))
            self.error_weight += result.weight
        elif result.value is not None:
            self.value.add(result.value)
            self.weighted_value.add(result.value, result.weight)

    def summary(self, key: GroupKey, seed: int, looks: int) -> GroupSummary:
        """The result of the group.

        Args:
            key: the group.
            seed: of resampled intervals.
            looks: how often the results have been looked at, this time included.
        """
        repeats, counts = self.runs.repeats, self.all.counts
        return GroupSummary(
            **asdict(key),
            counts=counts,
            skip_reasons=tuple(self.skip_reasons),
            cases=self.outcomes.counts,
            pass_rate=self.all.passing.rate(repeats, seed, looks),
            pass_bounds=self.all.passing.bounds if counts.errors else None,
            mean_value=self.value.mean,
            weighted_value=self.weighted_value.mean,
            graded_weight=self.weighted_value.weight,
            error_weight=self.error_weight,
            run_pass_rates=self.runs.rates,
            latency=Latency.of(self.latencies),
            reliability=self.repeated.reliability,
            tags=self._tag_summaries(seed, looks),
            figures=tuple(_figure(check, passed) for check, passed in self.beside.items()),
        )

    def _tag_summaries(self, seed: int, looks: int) -> tuple[TagSummary, ...]:
        repeats = self.runs.repeats
        return tuple(
            TagSummary(tag=tag, counts=tally.counts, pass_rate=tally.passing.rate(repeats, seed, looks))
            for tag, tally in sorted(self.tags.items())
        )


def _figure(check: str, passed: Spread) -> Figure:
    return Figure(name=check, label=check, value=passed.mean, unit="ratio", n=passed.n)
