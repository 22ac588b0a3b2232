"""A run made of rewards that stand in a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    Execution,
    Failure,
    FailureClass,
    Identity,
    Kept,
    PlanHead,
    ResultOrder,
    Score,
    SuiteHead,
    TargetHead,
    TrialResult,
    Usage,
    Verdict,
    digest,
)
from skillgauge.api.report import RunInfo, RunState, RunView, summarize

from .figures import figures

FORMAT = "benchflow"
WITH_SKILL, BASELINE = "with-skill", "baseline"
REWARD = "reward"
"""Id and scorer of what was graded elsewhere."""
PASSES_ABOVE = 0.5


@dataclass(frozen=True)
class Row:
    """One rollout: a case by an agent in one of the arms."""

    skill: str
    case_id: str
    agent: str
    model: str | None
    arm: str
    repeat: int
    reward: float | None
    """`None` is an error, never 0."""
    error: str = ""
    question: str | None = None
    duration_s: float | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    started_at: float = 0.0
    """Seconds since the epoch."""


def view_of(rows: Sequence[Row], root: str, *, started_at: float = 0.0, state: RunState = RunState.FINISHED) -> RunView:
    """The run that these rollouts are; its figures are computed anew."""
    content = digest([repr(row) for row in rows])
    places = {skill: _places(rows, skill) for skill in dict.fromkeys(row.skill for row in rows)}
    results = [_result(row, ordinal, places[row.skill][row.case_id][0], started_at) for ordinal, row in enumerate(rows)]
    head = _plan_head(rows, content, root)
    source = Kept(lambda: results, _case_heads(places))
    return RunView(
        run=RunInfo(run_id=content[:20], state=state, started_at=started_at),
        head=head,
        summary=summarize(head, source.results(ResultOrder.CASE), figures=figures),
        source=source,
    )


def _plan_head(rows: Sequence[Row], content: str, root: str) -> PlanHead:
    skills = dict.fromkeys(row.skill for row in rows)
    return PlanHead(
        plan_id=content,
        suites=tuple(_suite_head(skill, [row for row in rows if row.skill == skill], root) for skill in skills),
        trial_count=len(rows),
        runs=max(row.repeat for row in rows),
        seed=0,
        runners=tuple(Identity(name=name) for name in dict.fromkeys(row.agent for row in rows)),
        models=tuple(dict.fromkeys(row.model for row in rows if row.model)),
    )


def _case_heads(places: Mapping[str, Mapping[str, tuple[int, str | None]]]) -> list[CaseHead]:
    return [
        CaseHead(suite_id=skill, index=index, id=case_id, prompt=question)
        for skill, cases in places.items()
        for case_id, (index, question) in cases.items()
    ]


def _places(rows: Iterable[Row], skill: str) -> dict[str, tuple[int, str | None]]:
    """Index and question of each case of a skill."""
    places: dict[str, tuple[int, str | None]] = {}
    for row in rows:
        if row.skill == skill:
            index, question = places.get(row.case_id, (len(places), None))
            places[row.case_id] = (index, question or row.question)
    return places


def _suite_head(skill: str, rows: Sequence[Row], root: str) -> SuiteHead:
    arms = tuple(sorted({row.arm for row in rows}, reverse=True))
    return SuiteHead(
        id=skill,
        name=skill,
        format=FORMAT,
        root=root,
        content_digest=digest([row.case_id for row in rows]),
        case_count=len({row.case_id for row in rows}),
        runs=max(row.repeat for row in rows),
        targets=(TargetHead(id=skill, name=skill),),
        arms=arms,
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=BASELINE),) if BASELINE in arms else (),
        document=FORMAT,
    )


def _result(row: Row, ordinal: int, index: int, started_at: float) -> TrialResult:
    trial = digest(ordinal, repr(row))
    graded: dict[str, Any] = {"verdict": Verdict.ERROR}
    failure = None
    if row.reward is None:
        message = row.error or "there is no reward"
        failure = Failure(failure_class=FailureClass.INTERNAL, blame=Blame.INFRASTRUCTURE, message=message)
    else:
        passed = row.reward > PASSES_ABOVE
        reason = f"reward {row.reward:g}"
        score = Score.passed(reason) if passed else Score.failed(reason)
        score = score.model_copy(update={"check_id": REWARD, "scorer": REWARD, "value": row.reward})
        verdict = Verdict.PASS if passed else Verdict.FAIL
        graded = {"verdict": verdict, "value": row.reward, "scores": (score,)}
    used = row.tokens is not None or row.cost_usd is not None
    return TrialResult(
        trial_id=trial,
        execution_id=trial,
        score_id=trial,
        ordinal=ordinal,
        suite_id=row.skill,
        case_id=row.case_id,
        case_index=index,
        target_id=row.skill,
        arm=row.arm,
        runner=row.agent,
        model=row.model,
        repeat=row.repeat,
        execution=Execution(
            duration_s=row.duration_s,
            usage=Usage(total_tokens=row.tokens, cost_usd=row.cost_usd) if used else None,
            failure=failure,
        ),
        started_at=row.started_at or started_at,
        **graded,
    )
