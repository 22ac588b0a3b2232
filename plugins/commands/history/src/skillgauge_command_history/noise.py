"""The share of verdicts that flip though case, skill, engine, model and judge are the same. Pure: no file, no clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgauge.api import TrialResult
from skillgauge.api.report import GroupKey, RunView, case_by_case
from skillgauge.stats import RateInterval, flip_rate

from .documents import NoiseRow

Thing = tuple[str, str, str]
"""Digest of a case with its checks, id of the execution of its first repeat, and the judges: equal where nothing that
decides a verdict has changed, whatever the arm is called and whichever run it is in."""


@dataclass
class _Repeats:
    """The graded repeats of one thing."""

    group: GroupKey
    judges: str
    graded: int = 0
    passed: int = 0


def noise_of(views: Iterable[RunView], target: str | None = None, suite: str | None = None) -> tuple[NoiseRow, ...]:
    """Return how often two repeats disagree, for each suite, arm, engine, model and judge; the noisiest first.

    Repeats of one run, of several runs and of both arms of `eval --same` count together.

    Args:
        views: runs in any order; replays are no further repeats.
        target: only cases of this target, by its id.
        suite: only cases of this suite.
    """
    things: dict[Thing, _Repeats] = {}
    for view in views:
        judges = ", ".join(filter(None, (judge.model or judge.name for judge in view.head.judges)))
        for report in case_by_case(view, is_abridged=True):
            for group, results in report.results.items():
                first = _first_live(results)
                if first and target in (None, group.target_id) and suite in (None, group.suite_id):
                    thing = (report.case.digest or view.run.run_id, first.execution_id, judges)
                    repeats = things.setdefault(thing, _Repeats(group, judges))
                    counts = report.summaries[group].counts
                    repeats.graded += counts.passed + counts.failed
                    repeats.passed += counts.passed
    rows: dict[tuple[GroupKey, str], list[_Repeats]] = defaultdict(list)
    for repeats in things.values():
        if repeats.graded > 1:
            rows[repeats.group, repeats.judges].append(repeats)
    noise = [_row(group, judges, cases) for (group, judges), cases in rows.items()]
    return tuple(sorted(noise, key=lambda row: (-(row.flip_rate.rate or 0.0), row.suite, row.arm)))


def _first_live(results: Sequence[TrialResult]) -> TrialResult | None:
    """The first repeat of a case that is no recording played again, if it says what was executed."""
    live = [result for result in results if not result.execution.replayed and result.execution_id]
    return min(live, key=lambda result: result.repeat, default=None)


def _row(group: GroupKey, judges: str, cases: Sequence[_Repeats]) -> NoiseRow:
    flips = [flip_rate(case.graded, case.passed) or 0.0 for case in cases]
    return NoiseRow(
        suite=group.suite_id,
        target=group.target_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        judges=judges,
        cases=len(cases),
        sessions=sum(case.graded for case in cases),
        flip_rate=RateInterval.of(flips, repeats=max(case.graded for case in cases), seed=0),
    )
