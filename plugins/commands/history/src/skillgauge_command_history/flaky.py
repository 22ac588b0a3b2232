"""The cases that pass only sometimes, over several runs of the same thing. Pure: no file, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from skillgauge.api.report import CaseReport, GroupKey, RunView, case_by_case
from skillgauge.stats import flip_rate, pass_hat_k

from .documents import FlakyCase

TRIES = 3
"""How often in a row a case is to pass."""


@dataclass
class _Tally:
    """The repeats of one case, of all runs in which it was the same case of the same skill."""

    runs: int = 0
    graded: int = 0
    passed: int = 0
    errors: int = 0
    last: tuple[float, str] = field(default=(0.0, ""))
    """When the newest of the runs began, and its id."""


_Key = tuple[GroupKey, str, tuple[str, ...]]
"""Group, case, and what must be equal for repeats of several runs to be repeats of one thing."""


def flaky_cases(
    views: Iterable[RunView], target: str | None = None, suite: str | None = None
) -> tuple[tuple[FlakyCase, ...], int]:
    """The cases that both passed and failed, the least steady first, and how many others were repeated.

    Repeats of several runs are counted together only where case and skill are the same in content and both runs tell;
    else a case that broke would pass for a flaky one.

    Args:
        views: runs in any order; what is invalid in them does not matter here, since errors are in no rate.
        target: only cases of this target, by its id.
        suite: only cases of this suite.
    """
    tallies: dict[_Key, _Tally] = {}
    for view in views:
        digests = {(head.id, skill.id): skill.digest for head in view.head.suites for skill in head.targets}
        for report, group in _live_groups(view):
            if target in (None, group.target_id) and suite in (None, group.suite_id):
                same = _same(view, report, group, digests.get((group.suite_id, group.target_id or ""), ""))
                _add(tallies.setdefault((group, report.case.id, same), _Tally()), view, report, group)
    repeated = {key: tally for key, tally in tallies.items() if tally.graded > 1}
    flaky = [_document(*key[:2], tally) for key, tally in repeated.items() if 0 < tally.passed < tally.graded]
    flaky.sort(key=lambda case: (-case.flip_rate, case.suite, case.case))
    return tuple(flaky), len(repeated) - len(flaky)


def _live_groups(view: RunView) -> Iterator[tuple[CaseReport, GroupKey]]:
    """Yield each case with its groups, but those of recordings only: played again, they are no further repeat."""
    for report in case_by_case(view):
        for group, results in report.results.items():
            if not all(result.execution.replayed for result in results):
                yield report, group


def _same(view: RunView, report: CaseReport, group: GroupKey, skill: str) -> tuple[str, ...]:
    """Return what two runs must have in common: the skill, or what the first repeat executed if no target tells it."""
    content = skill or min(report.results[group], key=lambda result: result.repeat).execution_id
    return (report.case.digest, content) if report.case.digest and content else (view.run.run_id,)


def _add(tally: _Tally, view: RunView, report: CaseReport, group: GroupKey) -> None:
    counts = report.summaries[group].counts
    graded = counts.passed + counts.failed
    tally.runs += bool(graded)
    tally.graded += graded
    tally.passed += counts.passed
    tally.errors += counts.errors
    tally.last = max(tally.last, (view.run.started_at, view.run.run_id))


def _document(group: GroupKey, case: str, tally: _Tally) -> FlakyCase:
    return FlakyCase(
        suite=group.suite_id,
        target=group.target_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        case=case,
        runs=tally.runs,
        graded=tally.graded,
        passed=tally.passed,
        errors=tally.errors,
        flip_rate=flip_rate(tally.graded, tally.passed) or 0.0,
        pass_hat=pass_hat_k(tally.graded, tally.passed, TRIES),
        last_run=tally.last[1],
    )
