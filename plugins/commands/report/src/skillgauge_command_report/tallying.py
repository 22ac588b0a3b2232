"""Read a report into what a comparison needs: per skill its figures, and per task what became of its repeats."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from skillgauge.api import GroupSummary, RunView, TrialResult, Verdict, plain, reason_of

from .document import TaskRuns

REASON = 300
"""Characters of a reason that are kept."""


@dataclass(frozen=True)
class SkillKey:
    """What the trials of a skill are grouped by."""

    suite: str
    target: str | None
    arm: str
    runner: str
    model: str | None


@dataclass
class TaskTally:
    """The repeats of one task."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    broken: int = 0
    """Repeats that did not come to their end."""
    reason: str = ""
    failure: str = ""
    """Class of the first failed execution."""
    durations_s: array[float] = field(default_factory=lambda: array("d"))

    def add(self, result: TrialResult) -> None:
        """Count one repeat."""
        failure = result.execution.failure
        match result.verdict:
            case Verdict.PASS:
                self.passed += 1
            case Verdict.FAIL:
                self.failed += 1
            case Verdict.ERROR:
                self.errors += 1
            case Verdict.SKIPPED:
                return
        self.broken += result.verdict is Verdict.FAIL and failure is not None
        if result.execution.duration_s is not None:
            self.durations_s.append(result.execution.duration_s)
        if result.verdict is not Verdict.PASS and not self.reason:
            self.reason = plain(reason_of(result), REASON)
            self.failure = failure.failure_class if failure else ""

    @property
    def total(self) -> int:
        """Repeats that were carried out."""
        return self.passed + self.failed + self.errors

    @property
    def runs(self) -> TaskRuns:
        """What became of the repeats."""
        return TaskRuns(passed=self.passed, graded=self.passed + self.failed, errors=self.errors, shown=self._shown())

    def _shown(self) -> str:
        graded = self.passed + self.failed
        if self.total == 1:
            fail = f"fail ({self.failure})" if self.failure else "fail"
            return "pass" if self.passed else fail if self.failed else "error"
        errors = f"{self.errors} error{'' if self.errors == 1 else 's'}" if self.errors else ""
        share = f"{self.passed} of {graded} passed" if graded else ""
        return ", ".join(part for part in (share, errors) if part) or "not run"


@dataclass
class SkillTally:
    """One skill in one report."""

    key: SkillKey
    group: GroupSummary | None
    """Its published figures, where the report has a summary of it."""
    version: str | None = None
    """Version of the skill, where the report tells it."""
    tasks: dict[str, TaskTally] = field(default_factory=dict)
    """By id, in the order of the report."""


def tally(view: RunView) -> list[SkillTally]:
    """The skills of a report, in its order. Results are read once; what is kept grows with the number of tasks."""
    versions = {(suite.id, target.id): target.version for suite in view.head.suites for target in suite.targets}

    def skill_of(key: SkillKey, group: GroupSummary | None) -> SkillTally:
        return SkillTally(key, group, versions.get((key.suite, key.target or "")))

    skills = {_key(group): skill_of(_key(group), group) for group in view.summary.groups}
    for result in view.results():
        key = _key(result)
        skill = skills.setdefault(key, skill_of(key, None))
        skill.tasks.setdefault(result.case_id, TaskTally()).add(result)
    return list(skills.values())


def _key(part: GroupSummary | TrialResult) -> SkillKey:
    return SkillKey(part.suite_id, part.target_id, part.arm, part.runner, part.model)
