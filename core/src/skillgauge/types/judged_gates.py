"""The rule for gates that rest on checks which a judge has decided."""

from __future__ import annotations

from enum import StrEnum

JUDGED = "judged_checks"
"""Name of the figure of a group of which a judge has decided checks; its note says what the judge lacks, if anything.
Whoever knows judges gives it: see `run_notices`."""


class JudgedGates(StrEnum):
    """The decisions that the user leaves to a judge."""

    ALWAYS = "always"
    CALIBRATED = "calibrated"
    """A gate is inconclusive if its judge is not known to agree with people."""
    NEVER = "never"
    """A judge advises; no gate rests on it."""
