"""The rule for gates that rest on checks which a judge has decided."""

from __future__ import annotations

from enum import StrEnum

JUDGED = "judged_checks"
"""Name of the figure of a group of which a judge has decided checks; its note says what the judge lacks, if anything.
Whoever knows judges gives it: see `run_notices`. Further remarks on these checks are figures whose names begin so."""


CORRECTED = "corrected_"
"""Beginning of the names of figures that are corrected for the errors of a judge."""
CORRECTED_RATE = f"{CORRECTED}pass_rate"
"""Name of the figure of a group that is its pass rate as people would have found it, by whoever knows judges. Without a
value its note says why there is none."""


def corrected_lift(baseline: str) -> str:
    """Return the name of the figure of a group that is its lift over another arm, as people would have found it."""
    return f"{CORRECTED}lift_over_{baseline}"


class JudgedGates(StrEnum):
    """The decisions that the user leaves to a judge."""

    ALWAYS = "always"
    CALIBRATED = "calibrated"
    """A gate is inconclusive if its judge is not known to agree with people."""
    CORRECTED = "corrected"
    """A gate on a pass rate or a lift is asked of the one that people would have found, by the judge's known errors."""
    NEVER = "never"
    """A judge advises; no gate rests on it."""
