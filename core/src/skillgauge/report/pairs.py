"""The outcome of each case in each group, and the difference that the arms of a comparison have on it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ..stats import Discordant, Evidence, GradedTally, LiftTally, LogRatio, PairedDifference, mean_of
from ..types.comparison import (
    CasePair,
    CaseSummary,
    Counts,
    Dropped,
    DroppedCounts,
    FiredCounts,
    GroupKey,
    Outcome,
    OutcomeCounts,
    PairSummary,
    Ratios,
    Spent,
)
from ..types.result import TrialResult, Verdict
from ..types.trial import FailureClass, SuiteHead, Usage
from .outcomes import outcome_of, passes

_NO_USAGE = Usage()
"""Usage of which nothing is known."""


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
    return CaseSummary(
        group=group,
        counts=counts,
        outcome=outcome_of(counts, repeats, suite),
        passes=passes(counts, repeats[0].repeat_rule),
        cluster=repeats[0].cluster,
        mean_value=mean_of([result.value for result in graded if result.value is not None]),
        spent=_spent(repeats),
        fired=_fired(graded),
        earlier=tuple(_counts_until(repeats, repeat) for repeat in looks),
    )


def _counts_until(results: Iterable[TrialResult], repeat: int) -> Counts:
    return counts_of(result for result in results if result.repeat <= repeat)


def _spent(repeats: Iterable[TrialResult]) -> Spent:
    passed = [result.execution for result in repeats if result.verdict is Verdict.PASS]
    usages = [execution.usage or _NO_USAGE for execution in passed]
    return Spent(
        turns=mean_of([execution.trajectory.turns if execution.trajectory else None for execution in passed]),
        tokens=mean_of([_tokens(usage) for usage in usages]),
        duration_s=mean_of([execution.duration_s for execution in passed]),
        cost_usd=mean_of([usage.cost_usd for usage in usages]),
    )


def _tokens(usage: Usage) -> int | None:
    """All tokens of an execution; `None` if nothing is known of input, output or their sum."""
    if usage.total_tokens is None and (usage.input_tokens is None or usage.output_tokens is None):
        return None
    return usage.all_tokens


def _fired(repeats: Iterable[TrialResult]) -> FiredCounts | None:
    """Count the graded sessions in which a skill fired, of those that tell."""
    trajectories = [result.execution.trajectory for result in repeats]
    fired = [trajectory.skills_fired for trajectory in trajectories if trajectory]
    sessions = [skills for skills in fired if skills is not None]
    if not sessions:
        return None
    return FiredCounts(fired=sum(bool(skills) for skills in sessions), sessions=len(sessions))


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
    counts = (ours.counts if ours else Counts(), theirs.counts if theirs else Counts())
    dropped = _why_dropped(*counts)
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


def _why_dropped(ours: Counts, theirs: Counts) -> Dropped | None:
    if ours.pass_bounds is None or theirs.pass_bounds is None:
        return Dropped.NOT_RUN
    lost = (ours.pass_share is None, theirs.pass_share is None)
    reasons = {(True, True): Dropped.BOTH_ERROR, (True, False): Dropped.CANDIDATE_ERROR}
    return reasons.get(lost, Dropped.BASELINE_ERROR) if any(lost) else None


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
    _fired: FiredCounts | None = None
    _outcomes: Counter[str] = field(default_factory=Counter)
    _dropped: Counter[str] = field(default_factory=Counter)
    _ratios: dict[str, LogRatio] = field(default_factory=lambda: defaultdict(LogRatio))

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
        if ours.fired:
            self._fired = ours.fired.plus(self._fired)
        earlier = list(zip(ours.earlier, theirs.earlier, strict=True))
        self.lift.add(ours.counts, theirs.counts, ours.cluster, earlier, discordant)
        self._add_scores(ours, theirs)
        for (name, candidate), (_, baseline) in zip(ours.spent, theirs.spent, strict=True):
            self._ratios[name].add(candidate, baseline)

    def _add_scores(self, ours: CaseSummary, theirs: CaseSummary) -> None:
        candidate, baseline = _scored(ours), _scored(theirs)
        if candidate and baseline:
            self._graded.add(candidate, baseline)

    def summary(self, candidate: GroupKey, baseline: GroupKey, evidence: Evidence | None) -> PairSummary:
        """The result of the comparison, with its evidence among all comparisons of the run."""
        return PairSummary(
            candidate=candidate,
            baseline=baseline,
            evidence=evidence,
            graded=self._graded.evidence,
            fired=self._fired,
            ratios=Ratios(**{name: ratio.mean for name, ratio in self._ratios.items()}),
            lift_bounds=self.lift.bounds,
            outcomes=OutcomeCounts(**self._outcomes),
            dropped=DroppedCounts(**self._dropped),
        )
