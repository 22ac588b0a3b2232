"""The outcome of each case in each group, and the difference that the arms of a comparison have on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ..stats import Discordant, Evidence, GradedTally, LiftTally, PairedDifference, RateTally, flip_rate, mean_of
from ..types.arms import GroupKey
from ..types.comparison import (
    CasePair,
    CaseSummary,
    Counts,
    Dropped,
    DroppedCounts,
    Outcome,
    OutcomeCounts,
    PairSummary,
)
from ..types.results.trials import TrialResult, Verdict
from ..types.trial import FailureClass, SuiteHead
from .effort import EffortTally, spent_of
from .firing import FiringTally, sessions_by_firing
from .outcomes import outcome_of, passes


def case_summary(group: GroupKey, repeats: Sequence[TrialResult], suite: SuiteHead | None = None) -> CaseSummary:
    """Sum up what a group made of a case, of which it has at least one repeat.

    Args:
        group: the group.
        repeats: its trials of the case.
        suite: the suite of the case; it knows the earlier looks and what is in quarantine.
    """
    graded = [result for result in repeats if result.verdict is not Verdict.ERROR]
    counts = counts_of(repeats)
    looks = suite.looks if suite else ()
    fired, silent = sessions_by_firing(graded)
    return CaseSummary(
        group=group,
        counts=counts,
        outcome=outcome_of(counts, repeats, suite),
        passes=passes(counts, repeats[0].repeat_rule),
        cluster=repeats[0].cluster,
        mean_value=mean_of([result.value for result in graded if result.value is not None]),
        spent=spent_of(repeats),
        fired_sessions=fired,
        silent_sessions=silent,
        earlier=tuple(_counts_until(repeats, repeat) for repeat in looks),
    )


def _counts_until(results: Iterable[TrialResult], repeat: int) -> Counts:
    return counts_of(result for result in results if result.repeat <= repeat)


def counts_of(results: Iterable[TrialResult]) -> Counts:
    """Count how the trials of a case ended."""
    return _counts(*[_end_of(result) for result in results])


def _end_of(result: TrialResult) -> tuple[Verdict, FailureClass | None, bool]:
    failure = result.execution.failure
    return result.verdict, failure.failure_class if failure else None, _was_retried(result)


def _was_retried(result: TrialResult) -> bool:
    """Tell whether an attempt failed; one that the end of a run cut off says nothing about the target."""
    return bool(result.given_up) and not all(attempt.is_cut_off for attempt in result.given_up)


@lru_cache(maxsize=1024)
def _counts(*ends: tuple[Verdict, FailureClass | None, bool]) -> Counts:
    """One object for all cases that ended alike, as most of a run do."""
    verdicts = [verdict for verdict, _, _ in ends]
    timeouts = [failure for _, failure, _ in ends].count(FailureClass.TIMEOUT)
    broken = sum(verdict is Verdict.FAIL and failure is not None for verdict, failure, _ in ends)
    numbers = (len(ends), *map(verdicts.count, Verdict), timeouts, broken, ends.count((Verdict.PASS, None, True)))
    return Counts(**dict(zip(Counts.model_fields, numbers, strict=True)))


_GRADED = {Verdict.PASS: True, Verdict.FAIL: False}


def discordant_of(candidate: Iterable[TrialResult], baseline: Iterable[TrialResult]) -> Discordant:
    """Count the repeats of a case that came out differently in two arms, of those that were graded in both."""
    ours, theirs = (
        {result.repeat: _GRADED[result.verdict] for result in results if result.verdict in _GRADED}
        for results in (candidate, baseline)
    )
    pairs = [(ours[repeat], theirs[repeat]) for repeat in ours.keys() & theirs.keys()]
    return Discordant(won=pairs.count((True, False)), lost=pairs.count((False, True)))


def pairs_of(suite: SuiteHead, summaries: Mapping[GroupKey, CaseSummary]) -> Iterator[CasePair]:
    """The comparisons of a suite on one case, of which each group has one summary at most."""
    for comparison in suite.compared:
        arms = (comparison.candidate, comparison.baseline)
        for candidate in dict.fromkeys(key.in_arm(arms[0]) for key in summaries if key.arm in arms):
            baseline = candidate.in_arm(arms[1])
            yield _pair(candidate, baseline, summaries.get(candidate), summaries.get(baseline))


def _pair(candidate: GroupKey, baseline: GroupKey, ours: CaseSummary | None, theirs: CaseSummary | None) -> CasePair:
    dropped = _why_dropped(ours, theirs)
    if dropped is not None or ours is None or theirs is None:
        outcome = None if dropped is Dropped.NOT_RUN else Outcome.ERROR
        return CasePair(candidate=candidate, baseline=baseline, outcome=outcome, dropped=dropped)
    shares = (ours.counts.pass_share or 0.0, theirs.counts.pass_share or 0.0)
    return CasePair(
        candidate=candidate,
        baseline=baseline,
        outcome=_OUTCOMES[ours.passes is True, theirs.passes is True],
        difference=PairedDifference().add(*shares),
    )


_OUTCOMES = {
    (True, False): Outcome.FLIP_TO_PASS,
    (True, True): Outcome.PASS_KEPT,
    (False, False): Outcome.FAIL_KEPT,
    (False, True): Outcome.FLIP_TO_FAIL,
}


_REASONS = {
    (True, True): Dropped.BOTH_ERROR,
    (True, False): Dropped.CANDIDATE_ERROR,
    (False, True): Dropped.BASELINE_ERROR,
}
"""By whether no repeat was graded in the candidate arm, and whether none was in the baseline arm."""


def _why_dropped(ours: CaseSummary | None, theirs: CaseSummary | None) -> Dropped | None:
    if ours is None or theirs is None or None in (ours.counts.pass_bounds, theirs.counts.pass_bounds):
        return Dropped.NOT_RUN
    return _REASONS.get((ours.counts.pass_share is None, theirs.counts.pass_share is None))


def _scored(case: CaseSummary) -> tuple[float, float] | None:
    """The mean score of a case and the share of its repeats that passed; `None` if one is unknown."""
    share = case.counts.pass_share
    if case.mean_value is None or share is None:
        return None
    return case.mean_value, share


@dataclass
class PairTally:
    """Adds up the cases of one comparison."""

    lift: LiftTally = field(default_factory=LiftTally)
    _graded: GradedTally = field(default_factory=GradedTally)
    _firing: FiringTally = field(default_factory=FiringTally)
    _flips: RateTally = field(default_factory=RateTally)
    _repeats: int = 0
    """The most graded repeats of a case in one arm."""
    _outcomes: Counter[str] = field(default_factory=Counter)
    _dropped: Counter[str] = field(default_factory=Counter)
    _effort: EffortTally = field(default_factory=EffortTally)

    def add(
        self,
        pair: CasePair,
        ours: CaseSummary | None,
        theirs: CaseSummary | None,
        discordant: Discordant | None = None,
    ) -> None:
        """Count one case, with what the two arms made of it.

        Args:
            pair: the comparison of the case.
            ours: its repeats in the candidate arm.
            theirs: those in the baseline arm.
            discordant: the repeats that came out differently, in a run that stops once it is decided.
        """
        if pair.outcome:
            self._outcomes[pair.outcome] += 1
        if pair.dropped:
            self._dropped[pair.dropped] += 1
        if ours is None or theirs is None:
            return
        self._firing.add(ours, theirs)
        self._add_noise(ours, theirs)
        earlier = list(zip(ours.earlier, theirs.earlier, strict=True))
        self.lift.add(ours.counts, theirs.counts, ours.cluster, earlier, discordant)
        self._add_scores(ours, theirs)
        self._effort.add(ours.spent, theirs.spent)

    def _add_noise(self, ours: CaseSummary, theirs: CaseSummary) -> None:
        """Take how often two repeats of the case disagree, averaged over the arms in which it was repeated."""
        graded = [(case.counts.passed + case.counts.failed, case.counts.passed) for case in (ours, theirs)]
        flips = [flip for counts in graded if (flip := flip_rate(*counts)) is not None]
        if flips:
            self._flips.add(sum(flips) / len(flips), None, ours.cluster)
            self._repeats = max(self._repeats, *(count for count, _ in graded))

    def _add_scores(self, ours: CaseSummary, theirs: CaseSummary) -> None:
        candidate, baseline = _scored(ours), _scored(theirs)
        if candidate and baseline:
            self._graded.add(candidate, baseline)

    def summary(self, candidate: GroupKey, baseline: GroupKey, evidence: Evidence | None, seed: int) -> PairSummary:
        """The result of the comparison.

        Args:
            candidate: its candidate arm.
            baseline: its baseline arm.
            evidence: its evidence among all comparisons of the run.
            seed: of resampled intervals.
        """
        return PairSummary(
            candidate=candidate,
            baseline=baseline,
            evidence=evidence,
            graded=self._graded.evidence,
            fired=self._firing.counts,
            by_firing=self._firing.split,
            noise=self._flips.rate(self._repeats, seed) if self._repeats else None,
            ratios=self._effort.ratios,
            lift_bounds=self.lift.bounds,
            outcomes=OutcomeCounts(**self._outcomes),
            dropped=DroppedCounts(**self._dropped),
        )
