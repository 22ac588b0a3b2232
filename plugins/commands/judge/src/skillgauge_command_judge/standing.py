"""What must be said beside the judged rates of a run: whether its judge is known to agree with people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from skillgauge.api import RunView, plain

from .documents import Calibration
from .grading import Grader, judged_of

FILE = "judge-calibration.json"
"""Where a calibration is written, and looked for, unless told otherwise."""


def notices(view: RunView, folder: Path) -> Iterable[str]:
    """What a run's judge lacks, in one line; nothing if it is calibrated, or if no judge decided anything.

    Args:
        view: a run.
        folder: where the calibration file lies, if there is one.
    """
    if not view.head.judges:
        return
    run = judged_of(view)
    if not run.judged and not run.untold:
        return
    reason = "the run does not tell how its judge was asked" if run.untold else _doubt(run.graders, folder / FILE)
    if reason:
        yield f"the judge of this run is not calibrated: {reason}"


def _doubt(graders: Iterable[Grader], file: Path) -> str:
    """Why a calibration file does not vouch for some graders; empty if it does."""
    try:
        found = Calibration.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return "nobody has compared it with people (skillgauge judge label, judge calibrate)"
    except (OSError, ValidationError):
        return f"{FILE} cannot be read; make it anew with: skillgauge judge calibrate"
    for grader in graders:
        if grader not in found.graders:
            nearest = min((one.differences(grader) for one in found.graders), key=len, default=("judge",))
            return f"{FILE} is stale, since the {', the '.join(nearest)} of a check has changed"
    return f"it is advisory, since {plain('; '.join(found.advisory))}" if found.advisory else ""
