"""The findings that the comparisons of a plan can reach at all, told before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge_documents.characters import plain
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.phrases import counted

from ..plan.preparing import Prepared
from ..report.wording import of_number, span_text
from ..types.arms import Comparison
from ..types.gate import CaseScope
from ..types.plan import Cell, SuitePlan, applies
from ..types.trial import SuiteHead

COARSE = 0.5
"""A suite that shows nothing smaller, as a fraction, is warned of: few skills help so much."""
_APART = 3
"""Suites up to which each has a warning of its own."""


class Foreseen(Frozen):
    """A comparison of two arms, before it is run."""

    suite: str
    target: str | None
    candidate: str
    baseline: str
    runner: str
    model: str | None
    cases: int
    runs: int
    """Repeats of each case in each arm; where they differ, the most."""
    fewest_runs: int
    until_decided: bool = False
    """Whether there may be fewer, since it stops as soon as it is decided."""
    detectable: float | None
    """Smallest lift, as a fraction, that is found four times out of five; `None`: no outcome would prove any."""
    best_here: float | None
    """Lower bound of the lift on these cases, as a fraction, if every run passes in the candidate arm and none in the
    baseline arm; `None` without any case."""
    best_new: float | None
    """The same for new cases; `None` if the suite has too few to tell."""

    def best(self, scope: CaseScope) -> float | None:
        """Return the lower bound in the best case; `None` if there is none."""
        return {CaseScope.THESE: self.best_here, CaseScope.NEW: self.best_new}[scope]

    @property
    def subject(self) -> str:
        """The suite and its size, as a sentence begins."""
        times = of_number(self.runs, "once", f"{span_text(self.fewest_runs, self.runs)} times")
        if self.until_decided:
            times = f"until decided, at most {times}"
        return f"{plain(self.suite)}: {counted(self.cases, 'case')}, run {times} in each arm,"

    @property
    def is_fine(self) -> bool:
        """Whether it can show the lift of many skills."""
        return self.detectable is not None and self.detectable <= COARSE


def foresee(prepared: Prepared, *, bounds: bool = True) -> tuple[Foreseen, ...]:
    """Every comparison of the plan; without the bounds of the best case, which take most of the time, if so asked."""
    plan = prepared.plan
    pairs = zip(plan.suites, plan.head.suites, strict=True)
    return tuple(
        _foreseen(suite, cell, comparison, head, bounds=bounds)
        for suite, head in pairs
        for comparison in head.compared
        for cell in suite.cells
        if cell.arm.name == comparison.candidate
    )


def coarse(prepared: Prepared) -> Iterator[str]:
    """Yield warnings of suites that can hardly decide, each once, with what would help; of many one for all."""
    comparisons = foresee(prepared, bounds=False)
    hardly = [comparison for comparison in comparisons if not comparison.is_fine]
    if len(hardly) <= _APART:
        yield from dict.fromkeys(map(told, hardly))
        return
    which = f"{len(hardly)} of {counted(len(comparisons), 'comparison')}"
    lifts = [comparison.detectable for comparison in hardly if comparison.detectable is not None]
    if len(lifts) < len(hardly):
        which += f", {len(hardly) - len(lifts)} of which can show nothing,"
    shown = f"a lift of {min(lifts) * 100:.0f} points or more" if lifts else "no lift"
    yield f"{which} can at best detect {shown}; --dry-run lists them, and more --runs or cases would help"


def told(foreseen: Foreseen) -> str:
    """Say in one sentence which findings a comparison can reach."""
    subject = foreseen.subject
    if foreseen.detectable is None:
        return f"{subject} cannot show whether the skill helps, whatever comes out{_advice(foreseen)}"
    return f"{subject} can detect a lift of {foreseen.detectable * 100:.0f} points or more{_advice(foreseen)}"


def _advice(foreseen: Foreseen) -> str:
    """Say how many repeats would show half of the way from never to always, or what else helps; empty if it does."""
    if foreseen.is_fine:
        return ""
    from .reach import runs_to_show  # noqa: PLC0415 - with statistics, which only comparisons need

    enough = runs_to_show(COARSE, foreseen.cases, foreseen.runs)
    return f"; --runs {enough[0]} can show {enough[1] * 100:.0f} points" if enough else "; more cases would"


def _foreseen(suite: SuitePlan, cell: Cell, comparison: Comparison, head: SuiteHead, *, bounds: bool) -> Foreseen:
    from .reach import best_here, best_new, detectable_lift  # noqa: PLC0415 - as above

    runs = [suite.repeats(case, head) for _, case in suite.cases() if applies(case, cell.target)]
    cases, most = len(runs), max(runs, default=head.runs)
    return Foreseen(
        suite=suite.suite.id,
        target=cell.target_id,
        candidate=comparison.candidate,
        baseline=comparison.baseline,
        runner=cell.runner.name,
        model=cell.model,
        cases=cases,
        runs=most,
        fewest_runs=min(runs, default=most),
        until_decided=head.until_decided,
        detectable=detectable_lift(runs, head) if cases else None,
        best_here=best_here(runs) if bounds and cases else None,
        best_new=best_new(runs) if bounds and cases else None,
    )
