"""Plans that compare two arms, carried out by the kernel without any agent: a function says how each trial ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

from skillgauge.contract.scorers import ScoreContext
from skillgauge.plan.planning import Terms, make_plan
from skillgauge.plan.survey import survey
from skillgauge.run.grading import Grading
from skillgauge.run.pipeline import Job
from skillgauge.run.scorers import BoundScorer, Scorers
from skillgauge.types.arms import Arm, ArmKind, Comparison
from skillgauge.types.plan import Cell, Plan, Selection, SuitePlan
from skillgauge.types.score import Score
from skillgauge.types.suite import Case, Check, Suite
from skillgauge.types.trial import Execution, Failure, FailureClass, Identity, Trial
from skillgauge.types.usage import Usage
from skillgauge_testkit.fakes import FakeScorer, FakeScorers

WITH, WITHOUT = (Arm(name=name, kind=ArmKind.AGENT) for name in ("with_skill", "without_skill"))
Passes = Callable[[Trial], bool | None]
"""Whether a trial passes; `None` ends it in an error."""
_RIGHT, _WRONG = "right", "wrong"


def suite_of(cases: int, name: str = "s", *, paid: bool = False) -> SuitePlan:
    """A suite whose cases run with a skill and without it."""
    suite = Suite(
        id=name,
        format="f",
        root=f"/{name}",
        cases=tuple(
            Case(id=f"case-{number}", prompt=f"{name} {number}", checks=(Check(id="k", scorer="exact"),))
            for number in range(cases)
        ),
        comparisons=(Comparison(candidate=WITH.name, baseline=WITHOUT.name),),
    )
    runner = Identity(name="scripted", version="1")
    return SuitePlan(suite, tuple(Cell(arm, runner, paid=paid) for arm in (WITH, WITHOUT)))


def two_arm_plan(suites: Sequence[SuitePlan], terms: Terms) -> Plan:
    """The plan of a run of such suites."""
    return make_plan(suites, [survey(suite.suite, Selection()) for suite in suites], terms)


class ScriptedStage:
    """Ends trials as it is told.

    Args:
        passes: what becomes of each.
    """

    workspace = None
    scores = ()

    def __init__(self, passes: Passes) -> None:
        self._passes = passes

    async def execute(self, trial: Trial) -> Execution:
        """Answer rightly, wrongly, or break down; each session costs one dollar."""
        passes = self._passes(trial)
        if passes is None:
            return Execution(failure=Failure.of_agent(FailureClass.AUTH, "not logged in"))
        return Execution(text=_RIGHT if passes else _WRONG, usage=Usage(total_tokens=10, cost_usd=1.0))

    async def prepare_grading(self, trial: Trial) -> Sequence[str]:
        """Leave everything as it is."""
        return ()


def two_arm_job(passes: Passes, **changes: Any) -> Job:
    """A job that ends each trial as a function says.

    Args:
        passes: what becomes of each trial.
        changes: other fields of the job than the defaults.
    """
    stage = ScriptedStage(passes)

    @asynccontextmanager
    async def opened() -> AsyncIterator[ScriptedStage]:
        yield stage

    def open_stage(trial: Trial) -> AbstractAsyncContextManager[ScriptedStage]:
        return opened()

    def graded(context: ScoreContext) -> Score:
        return Score.passed() if context.execution.text == _RIGHT else Score.failed("wrong")

    scorers = FakeScorers(lambda check: BoundScorer(check.scorer, FakeScorer(graded)))
    fields: dict[str, Any] = {
        "stages": {ArmKind.AGENT: open_stage},
        "grading": Grading(cast("Scorers", scorers)),
        "figures": lambda summary: {},
    }
    return Job(**(fields | changes))
