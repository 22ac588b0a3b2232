"""The output of `history --json`.

Rates are fractions, times are seconds since the epoch in UTC, latencies are seconds; `null` is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import EMPTY, Frozen, JsonObject
from skillgauge.api.report import CaseCounts, Counts, GroupSummary, RunInfo, SuiteValidity
from skillgauge.stats import RateInterval
from skillgauge_run_views.trends import TrendSeries


class ListedTarget(Frozen):
    """A target of a listed run."""

    suite: str
    id: str
    version: str | None
    digest: str


class ListedRun(Frozen):
    """One run of `history list`."""

    run: RunInfo
    suites: tuple[str, ...]
    targets: tuple[ListedTarget, ...]
    counts: Counts
    """Of the arms that are not only compared with."""
    cases: CaseCounts | None = None
    """The cases of the same by outcome; `null` for runs that do not tell."""
    rated_cases: CaseCounts | None = None
    """Of these, the cases of groups that have a pass rate; `null` without any."""
    headlines: tuple[str, ...] = ()
    """Of the other groups, the figures that stand in place of a pass rate, in words."""
    groups: tuple[GroupSummary, ...]
    """Rates and figures of every target, arm and model."""
    invalid: tuple[SuiteValidity, ...] = ()
    """Suites of which it proves nothing, and why."""
    name: str = ""
    note: str = ""
    labels: JsonObject = EMPTY
    """The words of people about it, as the two before; nobody has signed them."""


class NoteDocument(Frozen):
    """The document of `history note --json`: what is said of the run now."""

    schema_version: str = "1.0"
    run_id: str
    name: str
    note: str
    labels: JsonObject


class ListDocument(Frozen):
    """The document of `history list --json`."""

    schema_version: str = "1.0"
    store: str
    runs: tuple[ListedRun, ...]
    """Newest first."""


class TrendDocument(Frozen):
    """The document of `history trend --json`."""

    schema_version: str = "1.0"
    store: str
    target: str
    unfinished: int
    """Runs of the target that did not finish and are left out."""
    invalid: int = 0
    """Runs of the target that are invalid, for too many errors for example, and are left out."""
    series: tuple[TrendSeries, ...]


class TargetTrend(Frozen):
    """A target of `history trend` without a name."""

    target: str
    series: tuple[TrendSeries, ...]
    """Without the arms that others are only compared with."""


class TrendsDocument(Frozen):
    """The document of `history trend --json` without a target."""

    schema_version: str = "1.0"
    store: str
    runs: int
    """Runs that were looked at, the newest."""
    unfinished: int
    """Those that did not finish and are left out."""
    targets: tuple[TargetTrend, ...]
    """Those that fell most since the run before come first."""


class FlakyCase(Frozen):
    """A case that passed in some repeats and failed in others, though case and skill were the same."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    case: str
    runs: int
    """In which it was repeated like this."""
    graded: int
    passed: int
    errors: int
    pass_rate: RateInterval
    """The share that passed; `n` counts graded repeats, which the interval takes for independent."""
    verdicts: str
    """A letter for each graded repeat, oldest first: `p` passed, `f` failed."""
    turned: bool
    """Whether it changed once and for good, more clearly than chance explains: it broke or was mended."""
    gates: bool
    """Whether a gate may rest on it: false in an arm that is only compared with, and in quarantine."""
    flip_rate: float
    """How often two of its repeats disagree."""
    pass_hat: float | None
    """pass^3: how often three repeats all pass; `null` below three."""
    last_run: str


class QuarantineProposal(Frozen):
    """An entry for `quarantine` of the configuration."""

    case: str
    """A pattern that fits the id of the case and nothing else."""
    suite: str
    until: str
    """The day from which it gates again (ISO 8601)."""
    reason: str


class FlakyDocument(Frozen):
    """The document of `history flaky --json`."""

    schema_version: str = "1.0"
    store: str
    runs: int
    """Runs that were looked at, the newest."""
    cases: tuple[FlakyCase, ...]
    """The least steady first."""
    steady: int
    """Cases that were repeated and always gave the same verdict."""
    turned: tuple[FlakyCase, ...] = ()
    """Cases that changed their verdict once and for good though nothing here changed."""
    restarted: int = 0
    """Cases whose count began anew, because case, skill, engine, limits or judge were changed between two runs."""
    proposals: tuple[QuarantineProposal, ...] = ()
    """The cases that could be put into quarantine."""


class NoiseRow(Frozen):
    """The share of repeats of a case that disagree though nothing changed, in one group."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None
    judges: str
    """Names or models of the judges, a comma between two; empty without one."""
    cases: int
    """Cases that ran at least twice unchanged."""
    sessions: int
    """Their graded repeats."""
    flip_rate: RateInterval
    """The mean over these cases of the share of pairs of repeats that disagree."""


class NoiseDocument(Frozen):
    """The document of `history noise --json`."""

    schema_version: str = "1.0"
    store: str
    runs: int
    """Runs that were looked at, the newest."""
    noise: tuple[NoiseRow, ...]
    """The noisiest first."""


class ImportedRun(Frozen):
    """A run that the store has."""

    evaluation: str
    """Its file, from the folder that was named, or its id in the database of eval-skills."""
    run_id: str
    skill: str
    benchmark: str
    started_at: float
    results: int


class NotImported(Frozen):
    """A run that was left out."""

    evaluation: str
    skill: str
    benchmark: str
    reason: str
    damaged: bool
    """False if there was nothing to take over: the run did not finish."""


class ImportDocument(Frozen):
    """The document of `history import --json`."""

    schema_version: str = "1.0"
    file: str
    store: str
    imported: tuple[ImportedRun, ...]
    present: tuple[ImportedRun, ...]
    """Runs that were there already."""
    not_imported: tuple[NotImported, ...]
    passed_over: int = 0
    """JSON files in folders that hold no run, or further reports beside run records."""

    def joined(self, others: Iterable[ImportDocument]) -> ImportDocument:
        """This import and others into the same store as one."""
        documents = (self, *others)
        return ImportDocument(
            file=", ".join(document.file for document in documents),
            store=self.store,
            imported=tuple(run for document in documents for run in document.imported),
            present=tuple(run for document in documents for run in document.present),
            not_imported=tuple(run for document in documents for run in document.not_imported),
            passed_over=sum(document.passed_over for document in documents),
        )
