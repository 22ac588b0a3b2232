"""Suites as files of tests, and their cases as tests: one for each case in each arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from glob import escape
from typing import Any

import pytest

from skillgauge import PlannedCase, evaluate, planned_cases
from skillgauge.api import ScoreStatus, SkillgaugeError, TrialResult, Verdict


class CaseFailedError(Exception):
    """A case failed, and why."""


class CaseUndecidedError(Exception):
    """A case has an error instead of a result, and why."""


class SuiteFile(pytest.File):
    """A file that holds suites."""

    settings: dict[str, Any]
    """Of `skillgauge.evaluate`."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each case in each arm; a bad file is an error with all its problems."""
        try:
            planned = planned_cases(self.path, **self.settings)
        except (SkillgaugeError, TypeError) as error:
            raise self.CollectError(str(error)) from None
        self._known: dict[str, list[TrialResult]] = {}
        several = Counter((case.case_id, case.group.suite_id, case.group.arm) for case in planned)
        for case in planned:
            parts = [case.group.arm]
            if several[case.case_id, case.group.suite_id, case.group.arm] > 1:
                parts += filter(None, (case.group.target_id, case.group.runner, case.group.model))
            item: CaseItem = CaseItem.from_parent(self, name=f"{case.name or case.case_id}[{'-'.join(parts)}]")
            item.plan(case)
            yield item

    def results(self, planned: PlannedCase) -> list[TrialResult]:
        """The repeats of a case; all arms of it that are asked for run at once, and only once.

        Raises:
            CaseUndecidedError: nothing could be run.
        """
        case = planned.case_id
        if case not in self._known:
            items = [one for one in self.session.items if isinstance(one, CaseItem) and one.parent is self]
            compared = any(one.planned.is_baseline for one in items if one.planned.case_id == case)
            settings = {**self.settings, "case": escape(case), **({} if compared else {"baseline": False})}
            try:
                self._known[case] = list(evaluate(self.path, **settings).results())
            except SkillgaugeError as error:
                raise CaseUndecidedError(str(error)) from None
        return [result for result in self._known[case] if planned.is_of(result)]


class CaseItem(pytest.Item):
    """A case in one arm. Without the skill it may fail: then it counts as an expected failure."""

    planned: PlannedCase
    parent: SuiteFile

    def plan(self, planned: PlannedCase) -> None:
        """Say which case it is."""
        self.planned = planned
        self.extra_keyword_matches.update(planned.tags)
        self.add_marker(pytest.mark.skillgauge)
        if self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(f"{self.path}::{planned.case_id}"))

    def setup(self) -> None:
        """Evaluate it: what goes wrong here is an error of the test, not a failure."""
        self._results = self.parent.results(self.planned)
        errors = [_why(one) for one in self._results if one.verdict is Verdict.ERROR]
        if errors or not self._results:
            raise CaseUndecidedError("\n".join(errors) or "the run was stopped before it")
        usages = [usage.cost_usd for one in self._results for usage in one.usages if usage]
        if usages and None not in usages:
            self.user_properties.append(("cost_usd", sum(filter(None, usages))))

    def runtest(self) -> None:
        """Judge by the results of all repeats."""
        skipped = [one for one in self._results if one.verdict is Verdict.SKIPPED]
        if skipped:
            pytest.skip(_why(skipped[0]))
        failed = [one for one in self._results if one.verdict is Verdict.FAIL]
        if failed and self.planned.is_baseline:
            pytest.xfail(_why(failed[0]))
        if failed:
            share = f"{len(failed)} of {len(self._results)} repeats failed\n" if len(self._results) > 1 else ""
            raise CaseFailedError(share + "\n".join(map(_why, failed)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reasons alone: nobody needs to see this module."""
        if isinstance(excinfo.value, CaseFailedError | CaseUndecidedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return the place of the case in its file."""
        line = self.planned.line
        return self.planned.file or self.path, line - 1 if line else None, self.name


def _why(result: TrialResult) -> str:
    """Return the reasons why a repeat did not pass."""
    failure = result.execution.failure
    reasons = [failure.message] if failure else []
    reasons += result.execution.notes if result.verdict is Verdict.SKIPPED else ()
    reasons += [f"{one.scorer}: {one.reason}" for one in result.scores if one.status is not ScoreStatus.PASSED]
    return f"repeat {result.repeat}: " + ("; ".join(reasons) or "no reason is known")
