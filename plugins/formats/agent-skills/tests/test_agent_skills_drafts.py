"""What is said of a run whose evals nobody accepted yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from skillgauge.api import CaseHead, PlanHead, ResultOrder, SuiteHead, TrialResult
from skillgauge.api.report import Counts, GroupKey, GroupSummary, RunInfo, RunState, RunView, Summary
from skillgauge.stats import RateInterval
from skillgauge_format_agent_skills.notices import draft_figures


class Source:
    """What a store has of a run.

    Args:
        cases: of the run.
    """

    def __init__(self, cases: Sequence[CaseHead]) -> None:
        self._cases = cases
        self.was_read = False

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """Yield nothing."""
        return iter(())

    def cases(self) -> Iterator[CaseHead]:
        """Yield the cases, and remember that somebody asked."""
        self.was_read = True
        return iter(self._cases)


def view_of(*formats: str) -> RunView:
    """A run with a suite of each format, of which each has a case with the tag of drafts and one without."""
    suites = tuple(
        SuiteHead(id=name, format=name, root="/", content_digest="", case_count=2, targets=(), arms=())
        for name in formats
    )
    cases = [
        CaseHead(id=f"{name} {place}", suite_id=name, index=place, tags=("draft",) if place else ())
        for name in formats
        for place in (0, 1)
    ]
    groups = tuple(
        GroupSummary(
            suite_id=name,
            target_id=None,
            arm="with_skill",
            runner="r",
            model=None,
            counts=Counts(total=2, passed=2),
            pass_rate=RateInterval.of([1.0, 1.0], repeats=1, seed=0),
        )
        for name in formats
    )
    head = PlanHead(plan_id="p", suites=suites, trial_count=0, runs=1, seed=0, runners=())
    info = RunInfo(run_id="r", state=RunState.FINISHED, started_at=0.0)
    return RunView(info, head, Summary(counts=Counts(), groups=groups), Source(cases))


def test_only_suites_of_this_format_have_drafts() -> None:
    """The tag is the user's own in a suite of another format, and says nothing of who wrote its cases."""
    figures = list(draft_figures(view_of("agent-skills", "skillevaluation"), Path("/")))

    assert [(key.suite_id, figure.value) for key, figure in figures] == [("agent-skills", 1)]


def test_cases_of_other_formats_are_not_read() -> None:
    """A run of many thousand cases is not read for a remark that it cannot have."""
    view = view_of("skillevaluation")

    assert list(draft_figures(view, Path("/"))) == []
    assert isinstance(view.source, Source)
    assert not view.source.was_read
