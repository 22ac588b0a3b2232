"""What the sessions of a run say together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Execution,
    FiredSkill,
    JsonObject,
    Kept,
    PlanHead,
    Score,
    ScoreStatus,
    SkillRef,
    Trajectory,
    TrialResult,
    Verdict,
)
from skillgauge.api.report import Counts, GroupSummary, RunInfo, RunState, RunView, Summary, Table, table_texts
from skillgauge.stats import RateInterval
from skillgauge_scorer_trigger.notices import notices
from skillgauge_scorer_trigger.options import TriggerOptions
from skillgauge_scorer_trigger.scorer import TriggerScorer
from skillgauge_testkit import score_context

Asked = tuple[JsonObject, Sequence[Sequence[str] | None]]
"""Options of a query, and which skills fired in each of its sessions; `None`: nobody knows."""
ARM = Arm(
    name="with_skill",
    kind=ArmKind.AGENT,
    skills=tuple(SkillRef(name=name, root="/", digest="") for name in ("pdf", "csv", "mail")),
)
PDF: JsonObject = {"skill": "pdf"}
OF_CSV: JsonObject = {"skill": "pdf", "should_trigger": False, "owner": "csv"}
OF_NOBODY: JsonObject = {"skill": "pdf", "should_trigger": False}


def scored(options: JsonObject, fired: Sequence[str] | None, *, beside: bool) -> Score:
    """The real score of a session."""
    told = None if fired is None else tuple(FiredSkill(name=name, how="read") for name in fired)
    trajectory = Trajectory(skills_offered=("pdf", "csv", "mail"), skills_fired=told)
    context = replace(score_context(options=options, execution=Execution(trajectory=trajectory)), arm=ARM)
    found = asyncio.run(TriggerScorer(TriggerOptions.model_validate(options)).score(context))
    return found.model_copy(update={"scorer": "trigger", "beside": beside})


def run(*asked: Asked, beside: bool = False, provenance: JsonObject | None = None) -> RunView:
    """A run of queries."""
    results = []
    for index, (options, sessions) in enumerate(asked):
        for repeat, fired in enumerate(sessions, 1):
            score = scored(options, fired, beside=beside)
            results.append(
                TrialResult(
                    trial_id=f"{index}-{repeat}",
                    execution_id="e",
                    score_id="s",
                    ordinal=0,
                    suite_id="pdf",
                    case_id=str(index),
                    case_index=index,
                    target_id="pdf",
                    arm="with_skill",
                    runner="codex",
                    model=None,
                    repeat=repeat,
                    verdict=Verdict.ERROR if score.status is ScoreStatus.UNGRADED else Verdict.PASS,
                    scores=(score,),
                    execution=Execution(),
                    started_at=0.0,
                )
            )
    group = GroupSummary(
        suite_id="pdf",
        target_id="pdf",
        arm="with_skill",
        runner="codex",
        model=None,
        counts=Counts(),
        pass_rate=RateInterval(rate=None, n=0),
    )
    known = {"skillgauge-scorer-trigger": "0.1.0"} if provenance is None else provenance
    return RunView(
        run=RunInfo(run_id="r", state=RunState.FINISHED, started_at=0.0),
        head=PlanHead(plan_id="p", suites=(), trial_count=len(results), runs=1, seed=0, provenance=known),
        summary=Summary(counts=Counts(), groups=(group,)),
        source=Kept(lambda: results),
    )


def told(view: RunView) -> tuple[dict[str, object], list[str]]:
    """Figures and the cells of tables by name, and lines."""
    found: dict[str, object] = {}
    lines = []
    for remark in notices(view, Path()):
        if isinstance(remark, str):
            lines.append(remark)
        else:
            _group, one = remark
            if isinstance(one, Table):
                found[one.name] = table_texts(one)
            else:
                found[one.name] = (one.value, one.interval.n if one.interval else one.n)
    return found, lines


def test_who_fired_for_whose_queries() -> None:
    """A session counts in the column of each skill that fired in it; what nobody knows counts nowhere."""
    found, lines = told(
        run((PDF, [("pdf",), ("csv", "pdf"), None]), (OF_CSV, [("csv",), ()]), (OF_NOBODY, [("mail",)]))
    )
    assert found["trigger_confusion"] == (
        ("Query of", "Sessions", "pdf", "csv", "mail", "none"),
        ("pdf", "2", "2", "1", "0", "0"),
        ("csv", "2", "0", "1", "0", "1"),
        ("nobody here", "1", "0", "0", "1", "0"),
    )
    assert lines == []


def test_a_query_is_met_at_its_threshold() -> None:
    """A positive needs its share of fires, a negative has to stay below it; each query may have its own."""
    half = [("pdf",), ()]
    both = told(run((PDF, half), (OF_NOBODY, half)))[0]
    assert (both["queries_fired"], both["queries_silent"]) == ((1.0, 1), (0.0, 1))
    assert told(run(({**PDF, "threshold": 0.6}, half)))[0]["queries_fired"] == (0.0, 1)
    assert told(run(({**OF_NOBODY, "threshold": 0.6}, half)))[0]["queries_silent"] == (1.0, 1)
    once = told(run((PDF, [("pdf",), None, None])))[0]
    assert not {"queries_fired", "queries_silent"} & set(once), "it would say what recall says"


def test_a_skill_that_never_fires_is_alarming() -> None:
    """Precision of 100 % and recall of 0 % are the mark of a machine on which nothing works."""
    _, lines = told(run((PDF, [(), ("csv",)]), (OF_NOBODY, [()])))
    (line,) = lines
    assert "never fired in 2 sessions" in line
    assert "Check the engine first" in line
    assert not told(run((OF_NOBODY, [()])))[1]
    assert not told(run((PDF, [None])))[1], "what nobody knows is no silence"


def test_beside_a_verdict_there_is_no_figure_of_queries() -> None:
    """Evals that also say whether the skill should fire are no queries."""
    found, _ = told(run((PDF, [("pdf",)]), beside=True))
    assert [*found] == ["trigger_confusion"]


def test_runs_without_such_checks_are_not_read() -> None:
    """A run of a million calls is not read again for nothing."""
    view = run((PDF, [("pdf",)]), provenance={"skillgauge-scorer-exact": "0.1.0"})
    assert list(notices(view, Path())) == []
