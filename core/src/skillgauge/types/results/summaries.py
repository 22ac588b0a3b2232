"""The numbers of groups, of suites and of a whole run, with the evidence for them."""

from skillgauge_documents.frozen import Frozen

from ...stats import Latency, RateInterval, Reliability
from ..arms import GroupKey
from ..comparison import CaseCounts, Counts, EnginePair, PairSummary
from ..signature import Signature
from ..trial import SuiteHead


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
