"""The two reports that are compared, and the terms of the comparison."""

from __future__ import annotations

from dataclasses import dataclass

from skillgauge.api.report import RunView

from .document import Circumstance


@dataclass(frozen=True)
class Report:
    """A report to be compared."""

    view: RunView
    label: str
    file: str
    again: str = ""
    """Words by which `eval --confirm` finds it, as for a shell; empty if it tells too little for that."""
    remarks: tuple[str, ...] = ()
    """Sentences of plugins about it: that nobody calibrated its judge, say."""

    def command(self, options: str) -> str:
        """Return the command that runs some of it again."""
        return f"skillgauge eval --confirm {self.again} {options}"


@dataclass(frozen=True)
class Terms:
    """The rules by which two reports are compared."""

    max_drop: float
    """Largest loss of pass rate, as a fraction, that is no regression."""
    is_gate: bool
    """A regression, or a comparison that could not have found one, fails the command."""
    across: tuple[Circumstance, ...] = ()
    """Circumstances that may have changed in the second report: a difference is then the skill's or theirs."""
    any_loss: bool = False
    """Each task that broke is a regression, however little proves it."""
