"""The remarks beside the judged rates of a run: whether its judge is known to agree with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from skillgauge.api import PlanHead, plain
from skillgauge.api.report import JUDGED, Figure, GroupKey, RunView, counted, listed
from skillgauge_judge_labels import Grader, judged_of

from .calibrating import differences
from .documents import Calibration
from .trials import corrected_figures

_LONG = 1_000
"""Characters of a reason that are shown."""
FILE = "judge-calibration.json"
"""Where a calibration is written, and looked for, unless told otherwise."""


@dataclass(frozen=True)
class Doubt:
    """The shortcomings of a judge."""

    mark: str
    """What it is, in a few words that go beside a rate."""
    reason: str
    is_of_quality: bool = False
    """Whether there are labels of each arm, and they do not speak well enough of it."""


def notices(view: RunView, folder: Path) -> Iterator[str | tuple[GroupKey, Figure]]:
    """Return the shortcomings of a run's judge, in one line, and for each group its number of judged checks.

    If a calibration holds for the run, the pass rates and lifts follow that people would have found.

    Args:
        view: a run.
        folder: where the calibration file lies, if there is one.
    """
    if not view.head.judges:
        return
    run = judged_of(view, with_answers=False)
    if not run.judged and not run.untold:
        return
    arms = dict.fromkeys(check.group.arm for check in run.judged)
    calibration, doubt = (None, _UNTOLD) if run.untold else _read(folder / FILE, run.graders)
    if calibration:
        doubt = _doubt(calibration, arms)
    if doubt:
        yield f"the judge of this run is not calibrated: {doubt.reason}"
    decided: dict[GroupKey, list[bool]] = {}
    for group, passes in (*((check.group, check.passes) for check in run.judged), *run.untold):
        decided.setdefault(group, []).append(passes)
    for group, passed in decided.items():
        yield group, _figure(passed, doubt)
    if calibration:
        yield from corrected_figures(view, {arm.arm: arm.labelled for arm in calibration.arms})


def shortcomings(head: PlanHead, folder: Path, *, needs_calibrated: bool) -> Iterator[str]:
    """Yield the reason why no calibration can serve the gates of a plan, as far as that is known before it runs.

    Whether the calibration is stale is not: the model that answers is known afterwards.

    Args:
        head: what would run, with at least one judge.
        folder: where the calibration file lies, if there is one.
        needs_calibrated: the judge has to be calibrated; else labels of each arm are enough.
    """
    calibration, doubt = _read(folder / FILE, ())
    if calibration:
        doubt = _doubt(calibration, dict.fromkeys(arm for suite in head.suites for arm in suite.arms))
        if doubt and doubt.is_of_quality and not needs_calibrated:
            return
    if doubt:
        yield f"{doubt.reason}; label checks of each arm (skillgauge judge label), then: skillgauge judge calibrate"


def _figure(passed: Sequence[bool], doubt: Doubt | None) -> Figure:
    return Figure(
        name=JUDGED,
        label="Judged checks that pass",
        value=sum(passed) / len(passed),
        unit="ratio",
        n=len(passed),
        note=f"{counted(len(passed), 'check')} decided by {doubt.mark}" if doubt else "",
    )


_UNTOLD = Doubt("a judge that is not calibrated", "the run does not tell how its judge was asked")


def _read(file: Path, graders: Iterable[Grader]) -> tuple[Calibration | None, Doubt | None]:
    """Read the calibration that holds for some graders, or else the reason why there is none."""
    uncalibrated = _UNTOLD.mark
    try:
        calibration = Calibration.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        doubt = "nobody has compared it with people (skillgauge judge label, judge calibrate)"
        return None, Doubt(uncalibrated, doubt)
    except (OSError, ValidationError):
        doubt = f"{FILE} cannot be read; make it anew with: skillgauge judge calibrate"
        return None, Doubt(uncalibrated, doubt)
    for grader in graders:
        if grader not in calibration.graders:
            nearest = min((known.differences(grader) for known in calibration.graders), key=len, default=("judge",))
            doubt = f"{FILE} is stale, since the {', the '.join(nearest)} of a check has changed"
            return None, Doubt("a judge whose calibration is stale", doubt)
    return calibration, None


def _doubt(calibration: Calibration, arms: Iterable[str]) -> Doubt | None:
    """Return the reason why a calibration does not vouch for its judge in some arms; nothing if it does."""
    labelled = {arm.arm for arm in calibration.arms if arm.labelled.n}
    unlabelled = [arm for arm in arms if arm not in labelled]
    if unlabelled:
        names = plain(listed(unlabelled))
        doubt = f"nobody has compared it with people in {names}: {FILE} has no label of that"
        return Doubt(f"a judge that nobody has compared with people in {names}", doubt)
    if calibration.advisory:
        reasons = plain("; ".join(calibration.advisory), _LONG)
        return Doubt(_advisory_mark(calibration), f"it is advisory, since {reasons}", is_of_quality=True)
    return None


def _advisory_mark(calibration: Calibration) -> str:
    """Errors that differ between arms are named, since they bend every comparison."""
    differing = differences(calibration.comparisons)
    if not differing:
        return "a judge that is advisory only"
    return f"a judge that is advisory only: {plain('; '.join(differing), _LONG)}"
