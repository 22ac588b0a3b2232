"""Read aggregate-result.json as a run that was made elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    Execution,
    Failure,
    FailureClass,
    Identity,
    JsonValue,
    Kept,
    PlanHead,
    ResultOrder,
    Score,
    SuiteHead,
    TargetHead,
    Trajectory,
    TrialResult,
    Usage,
    Verdict,
    digest,
)
from skillgauge.api.report import Figure, GroupKey, RunInfo, RunState, RunView, SuiteSummary, summarize
from skillgauge_validation import result_document, validate

from .claiming import FORMAT

OWN = "skillgauge"
"""Key of what the format has no place for."""
_MARKS = frozenset({"schemaVersion", "suite", "cases"})
_ENGINE = "claude-code"
_AT_LIMIT = re.compile(r"number of turns|tim(ed|e)[ -]?(out|limit)", re.IGNORECASE)
"""Errors of a session that met a limit, and is graded on what it left."""
_ARMS = {"with": "with_plugin", "without": "without_plugin"}


def saved_run(path: Path) -> RunView | None:
    """Return the run that a document tells of; `None` if it is something else.

    Raises:
        SuiteError: it is such a document, but damaged.
    """
    document = result_document(path, is_own=_is_own, was_own=_was_own)
    if document is None:
        return None
    value = document.value
    items = value if isinstance(value, tuple) else (value,)
    pointers: list[tuple[int, ...]] = [(at,) for at in range(len(items))] if isinstance(value, tuple) else [()]
    read = [validate(_File, item, document, *pointer) for item, pointer in zip(items, pointers, strict=True)]
    return _view(read, path)


def _is_own(value: JsonValue) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return bool(items) and all(
        isinstance(one, Mapping) and one.keys() >= {"schemaVersion", "suite", "cases"} for one in items
    )


def _was_own(beginning: bytes) -> bool:
    return beginning[:1] in (b"{", b"[") and b'"schemaVersion"' in beginning and b'"claudeVersion"' in beginning


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Grade(_Part):
    name: str
    passed: bool
    weight: float = 1.0
    explanation: str = ""
    scored: bool = True
    scorer: str = "plugin-eval"


class _Run(_Part):
    score: float = Field(ge=0, le=1)
    passed: bool
    turns: int | None = None
    cost_usd: float | None = Field(default=None, alias="costUsd")
    duration_s: float | None = Field(default=None, alias="durationSeconds")
    error: str | None = None
    graders: tuple[_Grade, ...] = ()


class _Case(_Part):
    name: str
    dir: str = ""
    prompt: str = Field(default="", alias="promptMarkdown")
    arms: Mapping[str, tuple[_Run, ...]]
    own: Mapping[str, Any] = Field(default_factory=dict, alias="skillgauge")


class _Suite(_Part):
    root: str
    ablation: str = "none"
    plugins: tuple[Mapping[str, Any], ...] = ()
    model: str | None = Field(default=None, alias="modelOverride")


class _File(_Part):
    schema_version: int = Field(alias="schemaVersion")
    version: str = Field(default="", alias="claudeVersion")
    started_at: str = Field(default="", alias="startedAt")
    partial: bool = False
    suite: _Suite
    cases: tuple[_Case, ...]
    own: Mapping[str, Any] = Field(default_factory=dict, alias="skillgauge")

    @property
    def suite_id(self) -> str:
        """The name of the suite: that of its first plugin, else of its folder."""
        named = self.own.get("suite") or next((one.get("name") for one in self.suite.plugins), None)
        return str(named or Path(self.suite.root).name or FORMAT)

    @property
    def runner(self) -> str:
        """The agent that ran."""
        return str(self.own.get("engine") or _ENGINE)

    @property
    def arms(self) -> dict[str, str]:
        """The arms by their names in the document."""
        names_told = self.own.get("arms")
        names = _ARMS | ({key: str(one) for key, one in names_told.items()} if isinstance(names_told, Mapping) else {})
        used = {key for case in self.cases for key in case.arms}
        return {key: name for key, name in names.items() if key in used}


def _view(files: Sequence[_File], path: Path) -> RunView:
    content = digest([file.model_dump(mode="json") for file in files])
    started_at = min(_seconds(file.started_at) for file in files)
    results = list(_results(files, started_at))
    heads = [case for file in files for case in _case_heads(file)]
    suites = {file.suite_id: file for file in files}
    head = PlanHead(
        plan_id=content,
        suites=tuple(_suite_head(file, str(path.absolute())) for file in suites.values()),
        trial_count=len(results),
        runs=max((result.repeat for result in results), default=1),
        seed=0,
        runners=tuple(Identity(name=file.runner, version=file.version or None) for file in suites.values()),
        models=tuple(dict.fromkeys(file.suite.model for file in files if file.suite.model)),
    )
    source = Kept(lambda: results, list({(one.suite_id, one.id): one for one in heads}.values()))
    state = RunState.INTERRUPTED if any(file.partial for file in files) else RunState.FINISHED
    return RunView(
        run=RunInfo(run_id=content[:20], state=state, started_at=started_at),
        head=head,
        summary=summarize(head, source.results(ResultOrder.CASE), figures=_no_figures),
        source=source,
    )


def _no_figures(_summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    return {}


def _seconds(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return 0.0


def _case_id(case: _Case) -> str:
    return str(case.own.get("id") or case.name)


def _case_heads(file: _File) -> Iterator[CaseHead]:
    for index, case in enumerate(file.cases):
        yield CaseHead(suite_id=file.suite_id, index=index, id=_case_id(case), name=case.name, prompt=case.prompt)


def _suite_head(file: _File, path: str) -> SuiteHead:
    arms = file.arms
    compared = arms.keys() >= {"with", "without"}
    return SuiteHead(
        id=file.suite_id,
        name=file.suite_id,
        format=FORMAT,
        root=path,
        content_digest=digest([_case_id(case) for case in file.cases]),
        case_count=len(file.cases),
        runs=max((1, *(len(runs) for case in file.cases for runs in case.arms.values()))),
        targets=(TargetHead(id=file.suite_id, name=file.suite_id),),
        arms=tuple(arms.values()),
        comparisons=(Comparison(candidate=arms["with"], baseline=arms["without"]),) if compared else (),
        document=FORMAT,
    )


def _results(files: Sequence[_File], started_at: float) -> Iterator[TrialResult]:
    ordinal = 0
    for file in files:
        for index, case in enumerate(file.cases):
            for key, runs in case.arms.items():
                for repeat, run in enumerate(runs, 1):
                    place = {"ordinal": ordinal, "case_index": index, "repeat": repeat, "started_at": started_at}
                    yield _result(file, case, file.arms.get(key, key), run, place)
                    ordinal += 1


def _result(file: _File, case: _Case, arm: str, run: _Run, place: Mapping[str, Any]) -> TrialResult:
    trial = digest(file.suite_id, case.name, arm, dict(place))
    error = _is_error(run)
    blame = Blame.INFRASTRUCTURE if error else Blame.TARGET
    kind = FailureClass.INTERNAL if error else FailureClass.TIMEOUT
    failure = Failure(failure_class=kind, blame=blame, message=run.error) if run.error else None
    graded: dict[str, Any] = {"verdict": Verdict.ERROR}
    if not error:
        graded = {"verdict": Verdict.PASS if run.passed else Verdict.FAIL, "value": run.score, "scores": _scores(run)}
    return TrialResult(
        trial_id=trial,
        execution_id=trial,
        score_id=trial,
        suite_id=file.suite_id,
        case_id=_case_id(case),
        target_id=file.suite_id,
        arm=arm,
        runner=file.runner,
        model=file.suite.model or file.own.get("model"),
        execution=Execution(
            duration_s=run.duration_s,
            usage=Usage(cost_usd=run.cost_usd) if run.cost_usd is not None else None,
            trajectory=Trajectory(turns=run.turns) if run.turns is not None else None,
            failure=failure,
        ),
        **place,
        **graded,
    )


def _is_error(run: _Run) -> bool:
    """Tell whether a session did not come to its end: the program grades even one that did not start."""
    return run.error is not None and not _AT_LIMIT.search(run.error)


def _scores(run: _Run) -> tuple[Score, ...]:
    return tuple(
        (Score.passed(one.explanation) if one.passed else Score.failed(one.explanation)).model_copy(
            update={
                "check_id": one.name,
                "scorer": one.scorer,
                "weight": one.weight,
                "beside": not one.scored,
                "reason": one.explanation,
            }
        )
        for one in run.graders
    )
