"""The cases that pass only sometimes, over several runs of the same thing. Pure: no file, no clock.

docs/statistics.md, "Flaky over runs", states the rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from skillgauge.api import TrialResult, Verdict
from skillgauge.api.report import CaseReport, GroupKey, RunView, case_by_case
from skillgauge.stats import RateInterval, flip_rate, pass_hat_k, wilson

from .documents import FlakyCase

TRIES = 3
"""How often in a row a case is to pass."""
_LEVEL = 0.05
"""The largest chance with which steady wavering may look like one change."""


@dataclass
class _Tally:
    """The repeats of one case, of all runs in which it was the same case of the same skill."""

    runs: int = 0
    errors: int = 0
    sessions: set[tuple[int, float]] = field(default_factory=set)
    """Repeat and time of those counted: a run that was continued holds the earlier ones, too."""
    verdicts: list[bool] = field(default_factory=list)
    """True for each graded repeat that passed, oldest first."""
    last: tuple[float, str] = field(default=(0.0, ""))
    """When the newest of the runs began, and its id."""
    gates: bool = True
    """False if in the newest run the arm was only compared with, or the case was in quarantine."""

    @property
    def wavers(self) -> bool:
        """True if it both passed and failed."""
        return 0 < sum(self.verdicts) < len(self.verdicts)


@dataclass(frozen=True)
class FlakyCases:
    """Cases that were repeated though nothing changed that decides a verdict."""

    flaky: tuple[FlakyCase, ...]
    """Those that both passed and failed, the least steady first."""
    turned: tuple[FlakyCase, ...]
    """Those that changed once and for good, more clearly than chance explains: they broke or were mended."""
    steady: int
    """Those that always gave the same verdict."""
    restarted: int
    """Cases whose count began anew, because case, skill, engine, limits or judge were changed between two runs."""


_Key = tuple[GroupKey, str, tuple[str, ...]]
"""Group, case, and what must be equal for repeats of several runs to be repeats of one thing."""


def flaky_cases(views: Iterable[RunView], target: str | None = None, suite: str | None = None) -> FlakyCases:
    """Return the cases that were repeated, and which of them are flaky.

    Repeats of several runs are counted together only where case and skill are the same in content and both runs tell;
    else a case that broke would pass for a flaky one.

    Args:
        views: runs in any order; what is invalid in them does not matter here, since errors are in no rate.
        target: only cases of this target, by its id.
        suite: only cases of this suite.
    """
    tallies = _tallies(views, target, suite)
    repeated = {key: tally for key, tally in tallies.items() if len(tally.verdicts) > 1}
    wavering = [_document(*key[:2], tally) for key, tally in repeated.items() if tally.wavers]
    wavering.sort(key=lambda case: (-case.flip_rate, case.suite, case.case))
    return FlakyCases(
        flaky=tuple(case for case in wavering if not case.turned),
        turned=tuple(case for case in wavering if case.turned),
        steady=len(repeated) - len(wavering),
        restarted=len(tallies) - len({key[:2] for key in tallies}),
    )


def _tallies(views: Iterable[RunView], target: str | None, suite: str | None) -> dict[_Key, _Tally]:
    """Join the repeats of the runs, oldest first."""
    tallies: dict[_Key, _Tally] = {}
    for view in sorted(views, key=lambda view: (view.run.started_at, view.run.run_id)):
        digests = {(head.id, skill.id): skill.digest for head in view.head.suites for skill in head.targets}
        judges = ", ".join(sorted(judge.unversioned_digest for judge in view.head.judges))
        for report, group, sessions in _live_groups(view):
            if target in (None, group.target_id) and suite in (None, group.suite_id):
                skill = digests.get((group.suite_id, group.target_id or ""), "")
                same = _same(view, report, skill or sessions[0].execution_id, judges)
                _add(tallies.setdefault((group, report.case.id, same), _Tally()), view, sessions)
    return tallies


def has_turned(verdicts: list[bool]) -> bool:
    """Tell whether verdicts changed once and for good, rather than wavering.

    Where each order of as many passes and failures is as likely as any other, two of them have all of one kind first.

    >>> has_turned([True] * 5 + [False] * 3), has_turned([True, True, False, False])
    (True, False)
    """
    changes = sum(first != second for first, second in pairwise(verdicts))
    return changes == 1 and 2 / math.comb(len(verdicts), sum(verdicts)) <= _LEVEL


def _live_groups(view: RunView) -> Iterator[tuple[CaseReport, GroupKey, list[TrialResult]]]:
    """Yield each case with its groups and their repeats, without those of recordings: they are no further repeats."""
    for report in case_by_case(view, is_abridged=True):
        for group, results in report.results.items():
            live = [result for result in results if not result.execution.replayed]
            if live:
                yield report, group, sorted(live, key=lambda result: result.repeat)


def _same(view: RunView, report: CaseReport, content: str, judges: str) -> tuple[str, ...]:
    """Return what two runs must have in common.

    Args:
        view: the run.
        report: the case.
        content: the skill, or what the first repeat executed if no target tells it.
        judges: all that grade in the run.
    """
    return (report.case.digest, content, judges) if report.case.digest and content else (view.run.run_id,)


def _add(tally: _Tally, view: RunView, results: list[TrialResult]) -> None:
    new = [result for result in results if (result.repeat, result.started_at) not in tally.sessions]
    tally.sessions.update((result.repeat, result.started_at) for result in new)
    graded = [result.verdict is Verdict.PASS for result in new if result.verdict in (Verdict.PASS, Verdict.FAIL)]
    tally.runs += bool(graded)
    tally.verdicts += graded
    tally.errors += sum(result.verdict is Verdict.ERROR for result in new)
    tally.last = (view.run.started_at, view.run.run_id)
    suite = view.head.suites_by_id.get(results[0].suite_id)
    is_apart = suite and (suite.is_baseline(results[0].arm) or suite.quarantine_of(results[0].case_id))
    tally.gates = not is_apart


def _document(group: GroupKey, case: str, tally: _Tally) -> FlakyCase:
    graded, passed = len(tally.verdicts), sum(tally.verdicts)
    bounds = wilson(passed, graded)
    return FlakyCase(
        suite=group.suite_id,
        target=group.target_id,
        arm=group.arm,
        runner=group.runner,
        model=group.model,
        case=case,
        runs=tally.runs,
        graded=graded,
        passed=passed,
        errors=tally.errors,
        pass_rate=RateInterval(passed / graded, graded, bounds.lower, bounds.upper, bounds.level, str(bounds.method)),
        verdicts="".join("p" if is_pass else "f" for is_pass in tally.verdicts),
        turned=has_turned(tally.verdicts),
        gates=tally.gates,
        flip_rate=flip_rate(graded, passed) or 0.0,
        pass_hat=pass_hat_k(graded, passed, TRIES),
        last_run=tally.last[1],
    )
