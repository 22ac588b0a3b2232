"""The outcome of a case in one group: decided here, and read by every report, by gates and by commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..types.comparison import CaseCounts, CaseOutcome, Counts
from ..types.gate import RepeatRule
from ..types.results.trials import TrialResult
from ..types.trial import SuiteHead


def passes(counts: Counts, rule: RepeatRule) -> bool | None:
    """Tell whether enough of the graded repeats of a case passed; `None` if none was graded.

    Args:
        counts: how its repeats ended. Errors are no repeats.
        rule: how many have to pass.
    """
    graded = counts.passed + counts.failed
    return rule.is_met(counts.passed, graded) if graded else None


def outcome_of(counts: Counts, repeats: Sequence[TrialResult], suite: SuiteHead | None) -> CaseOutcome:
    """Decide what became of a case.

    Args:
        counts: how its repeats ended.
        repeats: they themselves, at least one.
        suite: the suite it belongs to, which knows what is in quarantine; `None` if the run does not tell it.
    """
    first = repeats[0]
    if suite is not None and suite.quarantine_of(first.case_id) is not None:
        return CaseOutcome.QUARANTINED
    passed = passes(counts, first.repeat_rule)
    if passed is not None:
        return CaseOutcome.PASSED if passed else CaseOutcome.FAILED
    return CaseOutcome.ERROR if counts.errors else CaseOutcome.SKIPPED


@dataclass
class OutcomeTally:
    """Counts cases by outcome."""

    _outcomes: Counter[CaseOutcome] = field(default_factory=Counter)

    def add(self, outcome: CaseOutcome) -> None:
        """Count one case."""
        self._outcomes[outcome] += 1

    @property
    def counts(self) -> CaseCounts:
        """The cases so far."""
        return CaseCounts(**{outcome.value: count for outcome, count in self._outcomes.items()})
