"""Runs for reporters to render: the summaries are made by the kernel's own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    EventKind,
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
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    Verdict,
)
from skillgauge.api.report import Figure, GroupKey, RunInfo, RunState, RunView, SuiteSummary, Summary
from skillgauge.report.summary import summarize

from . import samples

HOSTILE = tuple(text for _, text in samples.ODD_TEXTS if text.strip())
"""Ids are never empty; anything else may come from a file that somebody wrote."""

_MANY = 1000


@cache
def contract_views() -> tuple[tuple[str, RunView], ...]:
    """Runs that every reporter must be able to render: what kind of run it is, and the run."""
    return tuple(_views())


def _views() -> Iterator[tuple[str, RunView]]:
    yield "a run without suites", _view((), ())
    yield "a run without results", _view((_suite("demo", ("skill",)),), ())
    yield "a run that passed and failed", _view((_suite("demo", ("skill", "other")),), list(_plain(12)))
    yield "a run with hostile ids", _view(tuple(_suite(text, (text,)) for text in HOSTILE), list(_hostile()))
    yield "a run with errors", _view((_suite("demo", ("skill",)),), list(_errors()), RunState.INTERRUPTED)
    yield "a run of which little is known", _view((_suite("demo", ()),), [_unknown()], RunState.RUNNING, figure=None)
    yield "a comparison of two arms", _view((_comparison(),), list(_pairs()))
    yield f"a run with {_MANY:,} results", _view((_suite("demo", ("skill", "other")),), list(_plain(_MANY)))


def _view(
    suites: Sequence[SuiteHead],
    results: Sequence[TrialResult],
    state: RunState = RunState.FINISHED,
    *,
    figure: float | None = 0.5,
) -> RunView:
    head = PlanHead(
        plan_id="plan",
        suites=tuple(suites),
        trial_count=len(results),
        runs=max((result.repeat for result in results), default=1),
        seed=7,
        runners=(Identity(name="contract", version="1"),),
        provenance={"skillgauge-core": "0"},
    )
    units = ("ratio", "score", "ms", "", "USD")
    figures = tuple(
        Figure(name=f"figure{n}", label=f"Figure {n}", value=figure, unit=unit) for n, unit in enumerate(units)
    )
    source = Kept(lambda: results, {(one.suite_id, one.case_index): _case(one) for one in results}.values())
    ended_at = None if state is RunState.RUNNING else samples.STARTED_AT + 90
    return RunView(
        run=RunInfo(run_id="20231114T221320abcdef", state=state, started_at=samples.STARTED_AT, finished_at=ended_at),
        head=head,
        summary=_summary(head, source, figures),
        source=source,
    )


def _case(result: TrialResult) -> CaseHead:
    text = result.case_id
    place = (result.suite_id, result.case_index)
    return CaseHead(suite_id=place[0], index=place[1], id=text, name=text, prompt=text, input=text, tags=result.tags)


def _summary(head: PlanHead, source: Kept, figures: tuple[Figure, ...]) -> Summary:
    def given(summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        return {group.key: figures for group in summary.groups}

    return summarize(head, source.results(ResultOrder.CASE), figures=given)


def _suite(suite_id: str, targets: Sequence[str]) -> SuiteHead:
    return SuiteHead(
        id=suite_id,
        name=suite_id,
        version="1.2.3",
        format="contract",
        dialect=suite_id,
        root=f"/contract/{suite_id}",
        content_digest="0",
        case_count=6,
        targets=tuple(TargetHead(id=one, name=one, version="0.1", adapter="contract", tags=(one,)) for one in targets),
        arms=("direct",),
    )


def _plain(count: int) -> Iterator[TrialResult]:
    """Two targets, three repeats, tags, and every third case failing."""
    for ordinal in range(count):
        target, rest = ("skill", "other")[ordinal % 2], ordinal // 2
        case, repeat = rest // 3, rest % 3 + 1
        failed = case % 3 == 2
        score = Score.failed("expected 4, got 5", value=0.25) if failed else Score.passed("equal")
        yield samples.result(
            ordinal,
            case_id=f"case-{case}",
            case_index=case,
            repeat=repeat,
            target_id=target,
            tags=("even",) if case % 2 == 0 else ("odd", "more"),
            verdict=Verdict.FAIL if failed else Verdict.PASS,
            value=score.value,
            scores=(score.model_copy(update={"check_id": "sum", "scorer": "exact", "scorer_version": "1"}),),
            execution=Execution(output={"sum": 5 if failed else 4}, duration_s=0.1 + ordinal / 1000),
        )


def _hostile() -> Iterator[TrialResult]:
    """Every text wherever a text can stand."""
    for ordinal, text in enumerate(HOSTILE):
        score = Score.failed(text, evidence={text: text})
        failure = Failure(failure_class=FailureClass.CRASH, blame=Blame.TARGET, message=text) if ordinal % 2 else None
        yield samples.result(
            ordinal,
            suite_id=text,
            case_id=text,
            case_index=0,
            target_id=text,
            runner=text,
            model=text,
            tags=(text,),
            verdict=Verdict.FAIL,
            value=0.0,
            scores=(score.model_copy(update={"check_id": text, "scorer": text, "scorer_version": text}),),
            execution=Execution(
                output={text: text}, text=text, stdout=text, stderr=text, duration_s=0.1, failure=failure, notes=(text,)
            ),
        )


def _errors() -> Iterator[TrialResult]:
    """Infrastructure, ungraded checks, a timeout and a skipped case."""
    failures = [
        Failure(failure_class=kind, blame=Blame.INFRASTRUCTURE, message=f"{kind} happened", retryable=True)
        for kind in (FailureClass.NETWORK, FailureClass.RATE_LIMITED, FailureClass.SANDBOX)
    ]
    for ordinal, failure in enumerate(failures):
        execution = Execution(failure=failure)
        yield samples.result(ordinal, verdict=Verdict.ERROR, value=None, scores=(), execution=execution, attempts=3)
    scores = (Score.passed(), Score.ungraded("the judge did not answer"))
    yield samples.result(3, verdict=Verdict.ERROR, value=None, scores=scores)
    late = Failure(failure_class=FailureClass.TIMEOUT, blame=Blame.TARGET, message="no answer within 1 s")
    yield samples.result(
        4, verdict=Verdict.FAIL, value=0.0, scores=(), execution=Execution(failure=late, duration_s=1.0)
    )
    yield samples.result(5, verdict=Verdict.SKIPPED, value=None, scores=(), execution=Execution())


def _unknown() -> TrialResult:
    failure = Failure(failure_class=FailureClass.LAUNCH, blame=Blame.INFRASTRUCTURE, message="unknown")
    execution = Execution(failure=failure, usage=Usage(), trajectory=Trajectory())
    return samples.result(
        0, target_id=None, model=None, verdict=Verdict.ERROR, value=None, scores=(), execution=execution
    )


def _comparison() -> SuiteHead:
    arms = ("with_skill", "without_skill")
    comparison = Comparison(candidate=arms[0], baseline=arms[1])
    return _suite("demo", ("skill",)).model_copy(update={"arms": arms, "comparisons": (comparison,)})


def _pairs() -> Iterator[TrialResult]:
    """An agent that needs the skill in half of the cases, and of which not everything is known."""
    for ordinal in range(12):
        case, arm = ordinal // 2, ("with_skill", "without_skill")[ordinal % 2]
        passed = arm == "with_skill" or case % 2 == 0
        event = TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Skill", data={"skill": "demo"})
        usage = Usage(
            input_tokens=1000 + case, output_tokens=20, cost_usd=0.01 if case else None, cost_basis="reported"
        )
        yield samples.result(
            ordinal,
            case_id=f"case-{case}",
            case_index=case,
            arm=arm,
            runner="contract-agent",
            model="model-1",
            verdict=Verdict.PASS if passed else Verdict.FAIL,
            value=float(passed),
            scores=(Score.passed() if passed else Score.failed("no such file"),),
            execution=Execution(
                text="done",
                duration_s=4.0,
                usage=usage if case != 1 else None,
                trajectory=Trajectory(events=(event,), skills_offered=("demo",), turns=2),
            ),
        )
