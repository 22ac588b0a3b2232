"""The worth of a run: scores, results, summaries and the view that reporters read."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from pydantic import Field

from skillgauge_documents.frozen import Frozen

from ..stats import Latency, RateInterval, Reliability
from .arms import GroupKey
from .comparison import CaseCounts, Counts, EnginePair, PairSummary
from .decided import Decided
from .gate import MORE_THAN_HALF, RepeatRule
from .score import Score
from .signature import Signature
from .trial import CaseHead, Execution, Failure, PlanHead, SuiteHead, TrialFacts
from .usage import Usage


class Verdict(StrEnum):
    """The end of one trial."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    """Infrastructure failed or a check is ungraded; in no rate of ours."""
    SKIPPED = "skipped"


class GivenUp(Frozen):
    """An attempt that failed and was made again, or that the end of a run cut off."""

    failure: Failure
    usage: Usage | None = None
    """What it used, as far as it is known; a budget counts it."""
    wait_s: float = Field(ge=0)
    """Seconds that its trial waited after it; the service may have held it back for longer."""
    judges: tuple[Usage | None, ...] = ()
    """What each call of a judge used for it; `None` for a call that had not ended."""
    has_session: bool = True
    """False if it asked judges and no agent, so that `usage` stands for nothing."""
    is_cut_off: bool = False
    """Whether a stop, a crash or a kill of the run ended it, so that its usage is what was known until then."""

    @property
    def usages(self) -> tuple[Usage | None, ...]:
        """The usage of its session and of each call of a judge; `None` is unknown."""
        return (self.usage, *self.judges) if self.has_session else self.judges


class Unfinished(Frozen):
    """The usage of a claimed trial that has no result yet; the ledger keeps it in case none comes."""

    trial_id: str
    ordinal: int
    """Position of the trial in the plan."""
    claim: int = Field(ge=1)
    """Which claim of the trial this is, counted from 1."""
    attempts: tuple[GivenUp, ...]
    """Attempts of this claim in their order; the last one is under way, or was cut off."""
    last_step: str = ""
    """The last step of the agent: its kind, and the name of the tool if it is a call; empty if none was reported."""
    signature: str = ""
    """Of the run's signer; a store keeps it as it is."""


class TrialResult(TrialFacts):
    """A trial with what happened and what it was worth."""

    score_id: str
    """Execution id + checks + scorer versions + judge identity."""
    case_id: str
    target_id: str | None
    arm: str
    runner: str
    tags: tuple[str, ...] = ()
    cluster: str = ""
    weight: float = 1.0
    repeat_rule: RepeatRule = MORE_THAN_HALF
    """How many repeats of its case have to pass."""
    verdict: Verdict
    value: float | None = Field(default=None, ge=0, le=1)
    """Weighted mean of the scores; 0 for a target's failure, `None` for an error."""
    scores: tuple[Score, ...] = ()
    execution: Execution
    given_up: tuple[GivenUp, ...] = ()
    """Attempts before the one that counts, in their order."""
    attempts: int = Field(default=1, ge=1)
    """Times the trial was started in this run, retries and interrupted attempts included."""
    started_at: float
    """Seconds since the epoch at which the attempt that counts began."""
    signature: Signature = ""
    """Keyed digest of all the rest and of the run, in a store; empty elsewhere. A store keeps it as it is."""

    @property
    def usages(self) -> tuple[Usage | None, ...]:
        """The usage of all that worked on it: the session or call, attempts given up, judges; `None` is unknown.

        Not a session that another run has paid for.
        """
        session = () if self.execution.replayed else (self.execution.usage,)
        if self.execution.user_usage and not self.execution.replayed:
            session = (*session, self.execution.user_usage)
        given_up = [usage for attempt in self.given_up for usage in attempt.usages] if self.given_up else ()
        return (*session, *given_up, *[one.usage for one in self.scores if one.usage])

    @property
    def group(self) -> GroupKey:
        """The key that it is summarised under."""
        return GroupKey(self.suite_id, self.target_id, self.arm, self.runner, self.model)


class Figure(Frozen):
    """A number of the format's own arithmetic that every reporter can print."""

    name: str
    """Key in documents, in the format's own spelling."""
    label: str
    value: float | None
    unit: str = ""
    """`ratio` is printed as percent, `lift` in points, `score` with three decimals, `ms` as milliseconds."""
    higher_is_better: bool = True
    bounds: tuple[float, float] | None = None
    """Its exact value if all errors had gone against the target, and if all had gone for it; `None`: as `value`."""
    n: int | None = None
    """Trials behind it; `None` stands for all of the group."""
    interval: RateInterval | None = None
    """Of a rate over cases, which is then `value`: its number of cases and its bounds."""
    is_headline: bool = False
    """Whether it takes the place of the pass rate, which says nothing of such a suite."""
    note: str = ""
    """What must be said beside it, as a sentence without its full stop."""
    subject: str = ""
    """Of one that takes the place of the pass rate, the cases of its suite in the plural, such as `trigger queries`."""


class TagSummary(Frozen):
    """The trials of a group whose case carries a tag."""

    tag: str
    counts: Counts
    pass_rate: RateInterval


class Table(Frozen):
    """Counts of a group by two things, which every reporter can print."""

    name: str
    """Key in documents."""
    label: str
    heads: tuple[str, ...]
    """Of its columns; the first one names the rows."""
    rows: tuple[tuple[str | int, ...], ...]


class GroupSummary(Frozen):
    """All trials of one suite, target, arm, runner and model."""

    suite_id: str
    target_id: str | None
    arm: str
    runner: str
    model: str | None
    counts: Counts
    cases: CaseCounts | None = None
    """Its cases by outcome; `None` in documents that do not tell."""
    pass_rate: RateInterval
    """Mean over cases of the pass share of each case's repeats; errors excluded. No rate where a figure of the format
    stands for the group in its place."""
    pass_bounds: tuple[float, float] | None = None
    """The rate if all errors were fails, and if all were passes; only when there are errors."""
    mean_value: float | None = None
    """Mean score over all graded trials."""
    weighted_value: float | None = None
    """The same, weighted by case weight."""
    graded_weight: float = 0.0
    """Sum of the case weights behind it."""
    error_weight: float = 0.0
    """Sum of the case weights of errors, for those who count them."""
    run_pass_rates: tuple[float, ...] = ()
    """Passed share of all trials of each repeat, in order: what consistency is made of."""
    latency: Latency = Latency()
    reliability: Reliability | None = None
    """How steady its cases are; `None` if each was run once."""
    skip_reasons: tuple[str, ...] = ()
    """Why trials were skipped, each reason once, the first ones."""
    tags: tuple[TagSummary, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()

    @property
    def key(self) -> GroupKey:
        """The key that tells it from the other groups of a run."""
        return GroupKey(self.suite_id, self.target_id, self.arm, self.runner, self.model)


class Spending(Frozen):
    """The usage of sessions, of attempts that were given up and of judges, as far as they report it."""

    cost_usd: float = 0.0
    tokens: int = 0
    user_usd: float = 0.0
    """Of the cost, what users that a model plays have used; as `user_tokens`, without what was cut off."""
    user_tokens: int = 0
    unknown: int = 0
    """Trials of agents of which some part does not tell its cost."""
    replayed: int = 0
    """Trials that are recordings, which cost nothing now."""
    cut_off: int = 0
    """Attempts that a stop, a crash or a kill cut off; what is known of their usage is included."""


class SuiteSummary(Frozen):
    """The result of one suite, from which its format makes figures of its own."""

    suite: SuiteHead
    groups: tuple[GroupSummary, ...]
    pairs: tuple[PairSummary, ...] = ()


class SuiteValidity(Frozen):
    """The validity of a suite's results: whether they prove anything."""

    suite_id: str
    valid: bool
    error_share: float | None
    reason: str = ""


class Summary(Frozen):
    """The result of the whole run."""

    counts: Counts
    groups: tuple[GroupSummary, ...]
    pairs: tuple[PairSummary, ...] = ()
    """Every comparison of every suite."""
    engines: tuple[EnginePair, ...] = ()
    """Every two engines or models that ran the same arm."""
    validity: tuple[SuiteValidity, ...] = ()
    spending: Spending | None = None
    """`None` if nothing of the run tells what it used."""
    interrupted_attempts: int = 0
    """Attempts that started and left no result, in this run or the interrupted one it resumed."""
    signature: Signature = ""
    """Keyed digest of all the rest, of the run's head and of all of its results, in a store; empty elsewhere."""

    @classmethod
    def empty(cls) -> "Summary":
        """The summary of a run that has none yet."""
        return cls(counts=Counts(), groups=())


class RunState(StrEnum):
    """The progress of a run."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"
    """A budget ended it."""


class RunInfo(Frozen):
    """The time and place at which a plan was carried out."""

    run_id: str
    state: RunState
    started_at: float
    """Seconds since the epoch."""
    finished_at: float | None = None
    resumed: bool = False


class ResultOrder(StrEnum):
    """Order in which results are read."""

    PLAN = "plan"
    CASE = "case"
    """By suite, then case, then target, runner, model, arm, then repeat: all that happened to a case lies together."""


class RunVerdict(StrEnum):
    """The meaning of a run for the machine that waits for it, as the exit code has it. Closed."""

    PASSED = "passed"
    """It ended well: every gate that was asked is met."""
    FAILED = "failed"
    """A gate was missed, or the first failure was to end it."""
    ERROR = "error"
    """It proves nothing, leaves a gate open, or was made of files that could not all be read."""
    INCOMPLETE = "incomplete"
    """A budget or an interruption ended it."""
    EMPTY = "empty"
    """It ended well, and there was nothing to run."""


class RunSource(Protocol):
    """The place from which the results and cases of a run are read, as often as they are asked for."""

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Committed results, of all groups or of one. Blocks; call it from a worker thread."""

    def cases(self) -> Iterator[CaseHead]:
        """Yield the known facts of the cases, once each, by suite id and place in the suite. Blocks, too."""


class Kept:
    """The source of a run that is in memory.

    Args:
        results: makes all results, in plan order; called once, when the first is asked for.
        cases: what is known of the cases, in any order.
    """

    def __init__(self, results: Callable[[], Iterable[TrialResult]], cases: Iterable[CaseHead] = ()) -> None:
        self._make = results
        self._cases = sorted(cases, key=lambda case: (case.suite_id, case.index))

    @cached_property
    def _by_group(self) -> dict[GroupKey | None, list[TrialResult]]:
        by_group: dict[GroupKey | None, list[TrialResult]] = {None: list(self._make())}
        for result in by_group[None]:
            by_group.setdefault(result.group, []).append(result)
        return by_group

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`."""
        results = self._by_group.get(group, [])
        return iter(results if order is ResultOrder.PLAN else sorted(results, key=case_order))

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`."""
        return iter(self._cases)


def case_order(result: TrialResult) -> tuple[str | int, ...]:
    """Sort key of `ResultOrder.CASE`."""
    place = (result.suite_id, result.case_index)
    return (*place, result.target_id or "", result.runner, result.model or "", result.arm, result.repeat)


@dataclass(frozen=True)
class RunView:
    """All that a reporter reads."""

    run: RunInfo
    head: PlanHead
    summary: Summary
    source: RunSource
    verdict: RunVerdict | None = None
    """The meaning of the run by the gates that were asked of it; `None` if nobody has asked, or a document does not
    tell."""
    decided: Decided | None = None
    """The answers of its gates and what changed since an earlier run, for reports; `None` as above."""

    def results(self, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """The results of the run, or of one group, in plan order; they stream, as often as they are asked for."""
        return self.source.results(ResultOrder.PLAN, group)

    def cases(self) -> Iterator[CaseHead]:
        """Yield the known facts of the cases, once each, by suite id and place in the suite."""
        return self.source.cases()
