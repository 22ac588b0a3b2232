"""Read a report into what a comparison needs: per skill its figures, and per task what became of its repeats."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillgauge.api import ScoreStatus, SuiteHead, TrialResult, Verdict, plain
from skillgauge.api.report import Counts, GroupKey, GroupSummary, RunView, case_by_case, reason_of

from .document import TaskRuns

REASON = 300
"""Characters of a reason that are kept."""


@dataclass(frozen=True)
class TaskTally:
    """The repeats of one task."""

    counts: Counts
    reason: str = ""
    """Why the first repeat that did not pass failed."""
    failure: str = ""
    """Class of its failure, if its execution failed."""
    durations_s: array[float] = field(default_factory=lambda: array("d"))
    content: str = ""
    """Digest of what it asks and how it is graded; empty if the report does not tell."""
    quarantined: bool = False
    """Whether it gates nothing."""
    checks: Mapping[str, TaskRuns] = field(default_factory=dict)
    """What became of each check that has a name, by it."""
    earlier: tuple[Counts, ...] = ()
    """Its repeats at each earlier look, if repeats were added to the run."""

    @classmethod
    def of(cls, counts: Counts, results: Sequence[TrialResult], content: str = "") -> TaskTally:
        """Tally the repeats of a task."""
        ran = [result for result in results if result.verdict is not Verdict.SKIPPED]
        durations = array("d", (one.execution.duration_s for one in ran if one.execution.duration_s is not None))
        first = next((result for result in ran if result.verdict is not Verdict.PASS), None)
        checks = _checks(ran)
        if first is None:
            return cls(counts, durations_s=durations, content=content, checks=checks)
        failure = first.execution.failure
        kind = failure.failure_class if failure else ""
        return cls(counts, plain(reason_of(first), REASON), kind, durations, content, checks=checks)

    @property
    def total(self) -> int:
        """Repeats that were carried out."""
        return self.counts.total - self.counts.skipped

    def at_look(self, look: int) -> TaskRuns:
        """The repeats that there were at a look, counted from 0; a later look than the last is as the last."""
        if look >= len(self.earlier):
            return self.runs
        counts = self.earlier[look]
        return _runs(counts.passed, counts.failed, counts.errors)

    @property
    def runs(self) -> TaskRuns:
        """The ends of the repeats."""
        return _runs(self.counts.passed, self.counts.failed, self.counts.errors, self.failure)


def _runs(passed: int, failed: int, errors: int, failure: str = "") -> TaskRuns:
    graded = passed + failed
    is_single = graded + errors == 1
    shown = _single_outcome(passed, failed, failure) if is_single else _outcomes(passed, graded, errors)
    return TaskRuns(passed=passed, graded=graded, errors=errors, shown=shown)


def _single_outcome(passed: int, failed: int, failure: str) -> str:
    """Name the outcome of a task with one repeat."""
    if passed:
        return "pass"
    if not failed:
        return "error"
    return f"fail ({failure})" if failure else "fail"


def _outcomes(passed: int, graded: int, errors: int) -> str:
    """Count the outcomes of a task with several repeats, or none."""
    parts = []
    if graded:
        parts.append(f"{passed} of {graded} passed")
    if errors:
        parts.append("1 error" if errors == 1 else f"{errors} errors")
    return ", ".join(parts) or "not run"


def _checks(results: Sequence[TrialResult]) -> dict[str, TaskRuns]:
    """Count the results of the checks; those without a name cannot be told apart."""
    by_check: dict[str, Counter[ScoreStatus]] = {}
    for score in (score for result in results for score in result.scores if score.check_id):
        by_check.setdefault(score.check_id, Counter())[score.status] += 1
    return {
        name: _runs(of[ScoreStatus.PASSED], of[ScoreStatus.FAILED], of[ScoreStatus.UNGRADED])
        for name, of in by_check.items()
    }


@dataclass
class SkillTally:
    """One skill in one report."""

    key: GroupKey
    group: GroupSummary | None
    """Its published figures, where the report has a summary of it."""
    version: str | None = None
    """Version of the skill, where the report tells it."""
    tasks: dict[str, TaskTally] = field(default_factory=dict)
    """By id, in the order of the suite."""
    is_baseline: bool = False
    """Whether its arm only serves to compare others with it."""
    control: SkillTally | None = None
    """The same with the baseline arm instead of this one, if there is one."""


def tally(view: RunView) -> list[SkillTally]:
    """The skills of a report, in its order. Results are read once; what is kept grows with the number of tasks."""
    suites = {suite.id: suite for suite in view.head.suites}
    versions = {(suite.id, target.id): target.version for suite in view.head.suites for target in suite.targets}
    quarantined = {(suite.id, case.case) for suite in view.head.suites for case in suite.quarantined}
    skills = {group.key: _empty_tally(group.key, group, suites, versions) for group in view.summary.groups}
    for report in case_by_case(view, is_abridged=True):
        is_quarantined = (report.case.suite_id, report.case.id) in quarantined
        for key, summary in report.summaries.items():
            if key not in skills:
                skills[key] = _empty_tally(key, None, suites, versions)
            task = TaskTally.of(summary.counts, report.results[key], report.case.digest)
            skills[key].tasks[report.case.id] = replace(task, earlier=summary.earlier, quarantined=is_quarantined)
    _link_controls(skills, suites)
    return list(skills.values())


def _empty_tally(
    key: GroupKey,
    group: GroupSummary | None,
    suites: Mapping[str, SuiteHead],
    versions: Mapping[tuple[str, str], str | None],
) -> SkillTally:
    """Return a skill without its tasks; `versions` are those of the targets by suite and id."""
    is_baseline = key.suite_id in suites and suites[key.suite_id].is_baseline(key.arm)
    version = versions.get((key.suite_id, key.target_id or ""))
    return SkillTally(key, group, version, is_baseline=is_baseline)


def _link_controls(skills: Mapping[GroupKey, SkillTally], suites: Mapping[str, SuiteHead]) -> None:
    """Give each skill the tally of its first baseline arm."""
    for key, skill in skills.items():
        suite = suites.get(key.suite_id)
        if suite is None:
            continue
        baselines = [comparison.baseline for comparison in suite.compared if comparison.candidate == key.arm]
        if baselines:
            skill.control = skills.get(key.in_arm(baselines[0]))
