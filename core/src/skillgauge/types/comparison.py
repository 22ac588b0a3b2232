"""Sums of results, and the comparison of two arms on one case and over a suite."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from skillgauge_documents.frozen import Frozen

from ..stats import Evidence, GradedEvidence, Interval, MeanRatio, RateInterval
from .arms import GroupKey


class _Tally(Frozen):
    """Numbers of things, each in a field."""

    @classmethod
    def sum(cls, counts: Iterable[Self]) -> Self:
        """Field by field sum."""
        listed = list(counts)
        return cls(**{name: sum(getattr(one, name) for one in listed) for name in cls.model_fields})


class Counts(_Tally):
    """Trials by verdict, and how many of the failed ones did not come to their end."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    timeouts: int = 0
    """Executions that exceeded their limit, whoever is to blame."""
    broken: int = 0
    """Executions of the target that ended in any failure, timeouts included."""
    retried: int = 0
    """Trials that passed after attempts that failed."""

    @property
    def are_skipped(self) -> bool:
        """True if there are trials, and each was skipped."""
        return 0 < self.total == self.skipped

    @property
    def pass_share(self) -> float | None:
        """Share of the graded trials that passed; `None` if none was graded."""
        graded = self.passed + self.failed
        return self.passed / graded if graded else None

    @property
    def pass_bounds(self) -> tuple[float, float] | None:
        """The share if all errors were fails, and if all were passes; `None` if nothing was run."""
        ran = self.total - self.skipped
        return (self.passed / ran, (self.passed + self.errors) / ran) if ran else None


class CaseOutcome(StrEnum):
    """The outcome of a case in one group, from all of its repeats. Closed, and the strings are frozen."""

    PASSED = "passed"
    """As many of its graded repeats passed as its suite wants: more than half of them, unless it says otherwise."""
    FAILED = "failed"
    """Fewer did."""
    ERROR = "error"
    """It could not be graded: none of its repeats gave a verdict, and at least one ended in an error."""
    SKIPPED = "skipped"
    """None of its repeats was run."""
    QUARANTINED = "quarantined"
    """It gates nothing, whatever its repeats gave."""


class CaseCounts(_Tally):
    """Cases by outcome."""

    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    quarantined: int = 0

    @property
    def graded(self) -> int:
        """Cases that passed or failed."""
        return self.passed + self.failed


class Spent(Frozen):
    """The effort of the repeats of a case that passed, on average; `None` where one of them does not tell."""

    turns: float | None = None
    tokens: float | None = None
    duration_s: float | None = None
    cost_usd: float | None = None


class FiredCounts(Frozen):
    """Sessions of an arm with skills, of which it is known whether one of them fired."""

    fired: int = 0
    sessions: int = 0

    def plus(self, other: "FiredCounts | None") -> "FiredCounts":
        """The sum of both."""
        if other is None:
            return self
        return FiredCounts(fired=self.fired + other.fired, sessions=self.sessions + other.sessions)


class CaseSessions(Frozen):
    """Some of the graded sessions of one case in one group."""

    passed: int
    sessions: int
    spent: Spent

    @property
    def pass_share(self) -> float:
        """Share of them that passed."""
        return self.passed / self.sessions


class CaseSummary(Frozen):
    """The repeats of one case in one group."""

    group: GroupKey
    counts: Counts
    outcome: CaseOutcome
    passes: bool | None
    """Whether enough of its graded repeats passed, in quarantine or not; `None` if none was graded."""
    cluster: str = ""
    mean_value: float | None = None
    """Mean score over its graded repeats."""
    spent: Spent = Spent.model_construct()
    fired_sessions: CaseSessions | None = None
    """Its graded sessions in which a skill of the case's arm fired; `None` without any."""
    silent_sessions: CaseSessions | None = None
    """Those in which it is known that none fired."""
    earlier: tuple[Counts, ...] = ()
    """Those of its repeats that there were at each earlier look; see `SuiteHead.looks`."""

    @property
    def fired(self) -> FiredCounts | None:
        """Sessions in which a skill of the case's arm fired; `None` where no session tells."""
        fired, silent = (part.sessions if part else 0 for part in (self.fired_sessions, self.silent_sessions))
        return FiredCounts(fired=fired, sessions=fired + silent) if fired or silent else None


class Outcome(StrEnum):
    """The outcome of a case in the candidate arm, beside the baseline arm. Closed, and the strings are frozen."""

    FLIP_TO_PASS = "flip_to_pass"
    PASS_KEPT = "pass_kept"
    FAIL_KEPT = "fail_kept"
    FLIP_TO_FAIL = "flip_to_fail"
    ERROR = "error"
    """One of the arms has errors only."""


class Dropped(StrEnum):
    """The reason why a case is not compared."""

    CANDIDATE_ERROR = "candidate_error"
    BASELINE_ERROR = "baseline_error"
    BOTH_ERROR = "both_error"
    NOT_RUN = "not_run"
    """One of the arms has no trial of it: skipped, or the run ended before."""


class CasePair(Frozen):
    """One case in two arms."""

    candidate: GroupKey
    baseline: GroupKey
    outcome: Outcome | None
    """An arm passes as `CaseOutcome` has it, in quarantine or not; `None` if an arm was not run."""
    difference: float | None = None
    """Pass share of the candidate arm minus that of the baseline arm; `None` if they cannot be compared."""
    dropped: Dropped | None = None
    """Why they cannot be compared, if so."""


class OutcomeCounts(Frozen):
    """Cases by outcome."""

    flip_to_pass: int = 0
    pass_kept: int = 0
    fail_kept: int = 0
    flip_to_fail: int = 0
    error: int = 0


class DroppedCounts(Frozen):
    """Cases that are not compared, by reason."""

    candidate_error: int = 0
    baseline_error: int = 0
    both_error: int = 0
    not_run: int = 0


class Ratios(Frozen):
    """The candidate arm's effort for a case as a multiple of the baseline arm's, over the cases that both passed."""

    turns: MeanRatio | None = None
    tokens: MeanRatio | None = None
    duration_s: MeanRatio | None = None
    cost_usd: MeanRatio | None = None


class FiringPart(Frozen):
    """The sessions of a candidate arm in which a skill fired, or in which none did, beside those of the baseline arm.

    Which sessions these are was not drawn by lot: a skill fires in the cases that suit it, so the two parts of an arm
    differ by their cases, too.
    """

    sessions: int
    n: int
    """Cases with such a session and a graded repeat in the baseline arm."""
    lift: float
    """Mean over these cases of the pass share of such sessions minus that of the baseline arm, -1 to 1."""
    ratios: Ratios
    """Effort as a multiple of the baseline arm's, over the cases in which both passed, the arm in such a session."""


class FiringSplit(Frozen):
    """The two parts of a candidate arm whose skills fired in some sessions and not in others."""

    fired: FiringPart
    silent: FiringPart


class EnginePair(Frozen):
    """The same arms with two engines or models: the difference of their lifts, and that of their pass rates.

    Lifts are over the cases with a result in all four arms, pass rates over those with one in both candidate arms.
    Chances are two-sided. Adjusted ones and intervals allow for all comparisons of engines of the same arms.
    """

    first: GroupKey
    """Its candidate arm."""
    second: GroupKey
    """Its candidate arm."""
    baseline: str | None
    """The baseline arm of both; `None` if there is none, so that only pass rates are compared."""
    n: int
    """Cases behind the lifts."""
    lift: float | None
    """The lift of the first minus that of the second, -2 to 2."""
    lift_chance: float | None
    """The chance that these cases show at least so different lifts if the engines are alike."""
    lift_adjusted: float | None = None
    lift_interval: Interval | None = None
    """Of the difference, for these cases."""
    passed: float
    """The share that the candidate arm of the first passes minus that of the second, -1 to 1."""
    passed_chance: float
    """The same of that difference."""
    passed_adjusted: float | None = None
    passed_interval: Interval | None = None
    passed_n: int = 0
    """Cases behind the pass rates."""


class PairSummary(Frozen):
    """Two groups that differ by their arm only, compared case by case."""

    candidate: GroupKey
    baseline: GroupKey
    evidence: Evidence | None
    """The lift over the complete pairs, cases with a graded repeat in both arms, and what it proves; `None` if there is
    none."""
    graded: GradedEvidence | None = None
    """The difference of the mean scores; `None` where they are the shares that passed."""
    fired: FiredCounts | None = None
    """Sessions of the candidate arm in which a skill fired; `None` where no session tells."""
    by_firing: FiringSplit | None = None
    """The same comparison for sessions in which a skill fired and for the others; `None` unless there are both."""
    noise: RateInterval | None = None
    """How often two sessions of the same case and arm end with different verdicts, averaged over the cases that were
    repeated; `None` if none was."""
    is_same: bool = False
    """Whether both arms are made alike, so that any difference between them is noise."""
    ratios: Ratios = Ratios.model_construct()
    lift_bounds: tuple[float, float] | None = None
    """The lift if all errors had gone against the candidate arm, and if all had gone for it; only with errors."""
    is_valid: bool | None = None
    """Whether it proves anything, whatever became of other comparisons of its suite; `None` if only the suite tells."""
    outcomes: OutcomeCounts = OutcomeCounts.model_construct()
    dropped: DroppedCounts = DroppedCounts.model_construct()

    @property
    def n(self) -> int:
        """Complete pairs."""
        return self.evidence.n if self.evidence else 0

    @property
    def lift(self) -> float | None:
        """Mean over the complete pairs of the difference of their pass shares; `None` if there is none."""
        return self.evidence.estimate if self.evidence else None
