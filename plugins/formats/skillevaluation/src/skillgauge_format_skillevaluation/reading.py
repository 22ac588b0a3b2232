"""Read results.json back into a run, as far as it tells one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from skillgauge.api import (
    Blame,
    CaseHead,
    Comparison,
    EventKind,
    Execution,
    Failure,
    FailureClass,
    Identity,
    JsonValue,
    Kept,
    PlanHead,
    Problem,
    ResultOrder,
    Score,
    SuiteError,
    SuiteHead,
    TargetHead,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    Verdict,
    digest,
    locate,
)
from skillgauge.api.report import GroupKey, Outcome, RunInfo, RunState, RunView, SuiteValidity, summarize
from skillgauge_skillevaluation import MADE_UP
from skillgauge_skillevaluation.aggregation import DIMENSIONS
from skillgauge_validation import result_document

from .document import STAMP
from .loading import FORMAT, MOCK, WITH_SKILL, WITHOUT_SKILL

_REQUIRED = frozenset({"pass_rate", "errors", "cases_aggregated", "cases_skipped_apples_oranges", "total_cases"})
UNKNOWN = "unknown"
NOT_TOLD = "[the document does not tell the answer]"
_TOOL = re.compile(r"^\[Step \d+\] Agent → tool: ([^(\n]+)\(", re.MULTILINE)


class _Part(BaseModel):
    """A part of a document that may say more than is read."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Arm(_Part):
    passed: bool = False
    errored: bool = False
    task_attempted: bool = True
    tool_call_count: int = 0
    duration_ms: int | None = None
    turns: int | None = None
    total_tokens: int | None = None
    cached: bool = False
    error: str = ""


class _Expectation(_Part):
    expectation: str
    passed: bool
    reason: str = ""
    errored: bool = False


class _Validator(_Part):
    label: str
    passed: bool
    errored: bool = False
    exit_code: int | None = None


class _Case(_Part):
    case_name: str
    outcome: Outcome
    run: int = 1
    with_skill: _Arm | None = None
    without_skill: _Arm | None = None
    expectation_results: tuple[_Expectation, ...] = ()
    validator_results: tuple[_Validator, ...] = ()
    error: str = ""
    transcripts: Mapping[str, str] = {}


class _Named(_Part):
    name: str = UNKNOWN


class _Runner(_Part):
    adapter: str = UNKNOWN
    judge: str | None = None


class _Own(_Part):
    suite: str | None = None
    model: str | None = None
    state: RunState = RunState.FINISHED
    reason: str = ""
    made_up: bool = False
    suite_hash: str | None = None
    spec_version: str | None = None


class ResultsFile(_Part):
    """A results.json."""

    cases: tuple[_Case, ...] = ()
    skill: _Named = _Named()
    runner: _Runner = _Runner()
    started_at: datetime | None = None
    completed_at: datetime | None = None
    error_dominated: bool = False
    errors: int = 0
    total_cases: int = 0
    runs: int = 1
    skillgauge: _Own = _Own()

    @property
    def is_made_up(self) -> bool:
        """True if its times, turns, tokens and calls are no measures: those of the reference's mock never are."""
        return self.skillgauge.made_up or (self.skillgauge.suite is None and self.runner.adapter == MOCK)


def read_results(path: Path) -> RunView | None:
    """A run as far as a document tells it; `None` if the file is something else.

    Raises:
        SuiteError: it is such a document, but damaged.
    """
    document = result_document(path, is_own=_are_results, was_own=_were_results)
    if document is None:
        return None
    value = document.value
    items = value if isinstance(value, tuple) else (value,)
    files, problems = [], []
    for index, item in enumerate(items):
        base = (index,) if isinstance(value, tuple) else ()
        try:
            files.append(ResultsFile.model_validate(item))
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                span = locate(document.origin(*base, *detail["loc"]))
                problems.append(Problem("report.damaged", f"{detail['loc'][-1]}: {detail['msg']}", span=span))
    if problems:
        raise SuiteError(problems)
    return _view(path, digest(value), files)


def _are_results(value: JsonValue) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return bool(items) and all(map(_is_results, items))


def _is_results(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and (value.get("format") == STAMP or value.keys() >= _REQUIRED)


def _were_results(beginning: bytes) -> bool:
    return STAMP.encode() in beginning


@dataclass(frozen=True)
class _Results:
    """A document, and the names under which its trials are kept."""

    file: ResultsFile
    content: str
    first_ordinal: int

    @property
    def suite_id(self) -> str:
        return self.file.skillgauge.suite or self.file.skill.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(case.case_name for case in self.file.cases))

    def head(self, path: Path) -> SuiteHead:
        name = self.file.skill.name
        return SuiteHead(
            id=self.suite_id,
            name=name,
            format=FORMAT,
            root=str(path.absolute()),
            content_digest=self.content,
            case_count=len(self.names),
            runs=self.file.runs,
            targets=(TargetHead(id=name, name=name),),
            arms=(WITH_SKILL, WITHOUT_SKILL),
            comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
            document=FORMAT,
            parameters={
                name: value
                for name in ("suite_hash", "spec_version")
                if (value := getattr(self.file.skillgauge, name)) is not None
            },
        )

    def heads(self) -> Iterator[CaseHead]:
        for index, name in enumerate(self.names):
            yield CaseHead(suite_id=self.suite_id, index=index, id=name)

    def validity(self) -> SuiteValidity:
        file, own = self.file, self.file.skillgauge
        share = file.errors / file.total_cases if file.total_cases else None
        reason = own.reason or (f"{file.errors} of {file.total_cases} pairs ended in an error" if share else "")
        valid = not file.error_dominated and file.total_cases > 0
        return SuiteValidity(suite_id=self.suite_id, valid=valid, error_share=share, reason="" if valid else reason)

    def results(self) -> Iterator[TrialResult]:
        names = {name: index for index, name in enumerate(self.names)}
        ordinal = self.first_ordinal
        for case in self.file.cases:
            for arm, verdict in zip((WITH_SKILL, WITHOUT_SKILL), _verdicts(case), strict=True):
                yield self._result(case, arm, verdict, names[case.case_name], ordinal)
                ordinal += 1

    def _result(self, case: _Case, arm: str, verdict: Verdict, index: int, ordinal: int) -> TrialResult:
        key = GroupKey(self.suite_id, self.file.skill.name, arm, self.file.runner.adapter, self.file.skillgauge.model)
        trial = digest(self.content, ordinal)
        arm_result = case.with_skill if arm == WITH_SKILL else case.without_skill
        value = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}.get(verdict)
        return TrialResult(
            trial_id=trial,
            execution_id=trial,
            score_id=trial,
            ordinal=ordinal,
            suite_id=key.suite_id,
            case_id=case.case_name,
            case_index=index,
            target_id=key.target_id,
            arm=arm,
            runner=key.runner,
            model=key.model,
            repeat=case.run,
            verdict=verdict,
            value=value,
            scores=tuple(_scores(case)) if arm == WITH_SKILL else (),
            execution=_execution(
                case,
                arm_result,
                verdict,
                case.transcripts.get("with" if arm == WITH_SKILL else "without"),
                made_up=self.file.is_made_up,
            ),
            started_at=self.file.started_at.timestamp() if self.file.started_at else 0.0,
        )


def _verdicts(case: _Case) -> tuple[Verdict, Verdict]:
    """Of both arms. Of an error the document tells only whose execution or which of our graders it was."""
    arms = [case.with_skill, case.without_skill]
    verdicts = [Verdict.PASS if arm and arm.passed else Verdict.FAIL for arm in arms]
    if case.outcome is Outcome.ERROR:
        flags = [one.errored for one in case.expectation_results] + [one.errored for one in case.validator_results]
        graders = any(flags)
        broken = [arm is None or arm.errored for arm in arms]
        broken[0] = broken[0] or graders
        broken[1] = broken[1] or not broken[0]
        verdicts = [Verdict.ERROR if bad else one for bad, one in zip(broken, verdicts, strict=True)]
    return verdicts[0], verdicts[1]


def _scores(case: _Case) -> Iterator[Score]:
    rows = [
        (validator.expectation, "expectation", validator.passed, validator.errored, validator.reason)
        for validator in case.expectation_results
    ]
    for validator in case.validator_results:
        reason = f"exit code {validator.exit_code}" if validator.exit_code is not None else ""
        rows.append((validator.label, "validator", validator.passed, validator.errored, reason))
    for check, scorer, passed, errored, reason in rows:
        score = Score.ungraded(reason) if errored else Score.passed(reason) if passed else Score.failed(reason)
        yield score.model_copy(update={"check_id": check, "scorer": scorer})


def _execution(case: _Case, arm: _Arm | None, verdict: Verdict, transcript: str | None, *, made_up: bool) -> Execution:
    """Return the events as far as measures and transcript show them: names of tools and the answer, no arguments."""
    failure = _failure(case, arm) if verdict is Verdict.ERROR else None
    measured = arm or _Arm()
    text = _answer(measured, transcript or "")
    if made_up:
        return Execution(text=text, trajectory=_made_up(measured), failure=failure, replayed=measured.cached)
    return Execution(
        text=text,
        duration_s=None if measured.duration_ms is None else measured.duration_ms / 1000,
        usage=None if measured.total_tokens is None else Usage(total_tokens=measured.total_tokens),
        trajectory=Trajectory(events=_tool_calls(measured, transcript or ""), turns=measured.turns),
        failure=failure,
        replayed=measured.cached,
    )


def _failure(case: _Case, arm: _Arm | None) -> Failure | None:
    """The failure of an arm of a pair that ended in an error; `None` if the other one failed, or the graders."""
    if arm is not None and not arm.errored:
        return None
    message = (arm.error if arm else "") or case.error or "the document does not say why"
    return Failure(failure_class=FailureClass.INTERNAL, blame=Blame.INFRASTRUCTURE, message=message)


def _answer(arm: _Arm, transcript: str) -> str | None:
    """The last words of an agent that came to its end."""
    if arm.errored or not arm.task_attempted:
        return None
    return transcript.rpartition("] Agent: ")[2] or NOT_TOLD


def _tool_calls(arm: _Arm, transcript: str) -> tuple[TrajectoryEvent, ...]:
    """As many calls as were counted, by the names in the transcript as far as they go."""
    names = [*_TOOL.findall(transcript), *[None] * arm.tool_call_count][: arm.tool_call_count]
    return tuple(TrajectoryEvent(kind=EventKind.TOOL_CALL, name=name) for name in names)


def _made_up(arm: _Arm) -> Trajectory:
    """Figures that are no measures, as the session's record had them: this format's documents alone tell them."""
    names = DIMENSIONS.values()
    figures = {name: value for name in names if (value := getattr(arm, name)) is not None}
    return Trajectory(events=(TrajectoryEvent(kind=EventKind.NOTICE, name=MADE_UP, data=figures),))


def _view(path: Path, content: str, files: Sequence[ResultsFile]) -> RunView:
    documents: list[_Results] = []
    ordinal = 0
    for file in files:
        documents.append(_Results(file, content, ordinal))
        ordinal += 2 * len(file.cases)
    head = _plan_head(path, content, documents)
    heads = {(case.suite_id, case.index): case for document in documents for case in document.heads()}
    source = Kept(lambda: (result for document in documents for result in document.results()), heads.values())
    summary = summarize(head, source.results(ResultOrder.CASE), figures=_no_figures)
    validity = {document.suite_id: document.validity() for document in documents}
    complete = summary.model_copy(update={"validity": tuple(validity.values())})
    return RunView(_run_info(content, files), head, complete, source)


def _plan_head(path: Path, content: str, documents: Sequence[_Results]) -> PlanHead:
    files = [document.file for document in documents]
    # Of several documents of one suite the first tells of it, and the last says where it stands.
    suites = {document.suite_id: document.head(path) for document in reversed(documents)}
    judges = dict.fromkeys(file.runner.judge for file in files if file.runner.judge)
    return PlanHead(
        plan_id=content,
        suites=tuple(reversed(suites.values())),
        trial_count=sum(2 * len(file.cases) for file in files),
        runs=max(file.runs for file in files),
        seed=0,
        models=tuple(dict.fromkeys(file.skillgauge.model for file in files if file.skillgauge.model)),
        judges=tuple(Identity(name=name) for name in judges),
    )


def _run_info(content: str, files: Sequence[ResultsFile]) -> RunInfo:
    """The run of all documents: it is as unfinished as the first of them that is."""
    states = (file.skillgauge.state for file in files)
    started = [file.started_at.timestamp() for file in files if file.started_at]
    ended = [file.completed_at.timestamp() for file in files if file.completed_at]
    return RunInfo(
        run_id=content,
        state=next((state for state in states if state is not RunState.FINISHED), RunState.FINISHED),
        started_at=min(started, default=0.0),
        finished_at=max(ended, default=None),
    )


def _no_figures(_summary: Any) -> Mapping[GroupKey, tuple[Any, ...]]:
    return {}
