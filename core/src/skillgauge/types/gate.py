"""The demands of a suite or a user on results."""

from enum import StrEnum

from pydantic import Field

from skillgauge_documents.frozen import Frozen


class GateFigure(StrEnum):
    """Figures that the kernel gives of every suite; others are a format's own."""

    PASS_RATE = "case_pass_rate"
    """Mean over cases of the pass share of each case's repeats."""
    FAILED = "failed_trials"
    """Trials that failed; less is better."""
    LIFT = "lift"
    """Of a comparison: candidate minus baseline, as a fraction."""


class GateScope(StrEnum):
    """The results that a gate is about."""

    GROUP = "group"
    """Each group by itself, those of baseline arms excepted."""
    PAIR = "pair"
    """Each comparison."""


class CaseScope(StrEnum):
    """The cases that a gate on a difference asks about. Closed, and the strings are frozen."""

    THESE = "these"
    """The cases of the suite, were they run very often."""
    NEW = "new"
    """New cases of this kind."""

    @property
    def text(self) -> str:
        """The scope as a sentence ends with it."""
        return _SCOPE_TEXTS[self]


_SCOPE_TEXTS = {CaseScope.THESE: "on these cases", CaseScope.NEW: "for new cases"}


class Gate(Frozen):
    """A demand on the results of a suite."""

    figure: str
    """Name of a `GateFigure`, or of a figure of the format."""
    threshold: float
    """Least value that meets it; largest one of a figure where less is better."""
    scope: GateScope = GateScope.GROUP


class RepeatRule(Frozen):
    """The share of its graded repeats that have to pass for a case to pass; by itself more than half of them."""

    share: float = Field(default=0.5, ge=0, le=1)
    above: bool = True
    """Whether the share must be exceeded instead of reached."""

    def is_met(self, passed: int, graded: int) -> bool:
        """Tell whether so many passes are enough.

        Args:
            passed: repeats that passed.
            graded: those and the ones that failed, at least 1.
        """
        surplus = passed - self.share * graded
        return surplus > _ROUNDING if self.above else surplus >= -_ROUNDING


_ROUNDING = 1e-9
"""The most by which a share such as 1 - 0.8 misses its decimal value, for any number of repeats."""


MORE_THAN_HALF = RepeatRule.model_construct()


class Quarantined(Frozen):
    """A case that gates nothing before the day `until` (ISO 8601)."""

    case: str
    until: str
    reason: str = ""
