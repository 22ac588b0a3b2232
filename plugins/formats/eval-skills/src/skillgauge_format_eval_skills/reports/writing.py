"""Write the result document of eval-skills; reading it is in `reading`."""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

from skillgauge.api import EMPTY, Execution, FailureClass, ScoreStatus, SuiteHead, TrialResult, Verdict, json_text
from skillgauge.api.report import GroupSummary, RunView, TagSummary
from skillgauge.stats import consistency
from skillgauge_documents.immutables import immutable

from ..checks import DOCUMENT_NAMES, UNKNOWN_SCORER
from ..figures import figures
from ..files import number
from .resampling import PUBLISHED_INTERVAL, mean_interval

_NO_RESULTS = '"taskResults": []'
_SPOOLED = 1 << 20
"""Bytes of task results that are held in memory; more of them wait in a file."""
_CHUNK = 1 << 16


def document_chunks(view: RunView) -> Iterator[bytes]:
    """The document, piece by piece."""
    suites = {suite.id: suite for suite in view.head.suites}
    groups = [group for group in view.summary.groups if _is_reported(group, suites.get(group.suite_id))]
    between = "[\n"
    for group in groups:
        with tempfile.SpooledTemporaryFile(_SPOOLED) as spool:
            facts = _spool(view.results(group.key), spool)
            report = _report(view, suites.get(group.suite_id), group, facts)
            before, _, after = _indented(report, 2).partition(_NO_RESULTS)
            yield f'{between}{before}"taskResults": ['.encode()
            spool.seek(0)
            while chunk := spool.read(_CHUNK):
                yield chunk
            yield (("\n    ]" if facts.scores else "]") + after).encode()
        between = ",\n"
    yield b"\n]\n" if groups else b"[]\n"


def _spool(results: Iterable[TrialResult], spool: IO[bytes]) -> _Facts:
    """Write task results aside, because what stands before them tells of all of them; they are read once."""
    facts = _Facts()
    for result in results:
        if result.verdict is not Verdict.SKIPPED:
            spool.write((("," if facts.scores else "") + "\n" + _indented(_task_result(result), 6)).encode())
            facts.add(result)
    return facts


def _is_reported(group: GroupSummary, suite: SuiteHead | None) -> bool:
    """Of a comparison only the arm with the skill is a report about the skill."""
    return suite is None or not suite.is_baseline(group.arm)


def _report(view: RunView, suite: SuiteHead | None, group: GroupSummary, facts: _Facts) -> dict[str, Any]:
    measured = _numbers(suite, group)
    report: dict[str, Any] = {
        "skillId": group.target_id or group.suite_id,
        "skillVersion": _version(suite, group.target_id),
        "benchmarkId": group.suite_id,
        "timestamp": _iso(view.run.started_at),
        "summary": {
            "completionRate": measured["completionRate"],
            "partialScore": measured["partialScore"],
            "errorRate": measured["errorRate"],
            "consistencyScore": measured["consistencyScore"],
            "compositeScore": measured["compositeScore"],
        },
        "latency": {"p50Ms": measured["p50Ms"], "p95Ms": measured["p95Ms"], "p99Ms": measured["p99Ms"]},
    }
    interval = _interval(group, facts, view.head.seed)
    if interval is not None:
        report["summary"]["confidenceInterval"] = {name: number(value) for name, value in interval.items()}
    additions = {"seed": view.head.seed, **_additions(group), **_standing(view, group)}
    if facts.spent is not None:
        report["tokenCost"] = facts.spent.document()
    if facts.spent is not None and facts.unknown:
        additions["costUnknown"] = facts.unknown
    return {**report, "taskResults": [], "evaluatorMetadata": {"skillgauge": additions}}


def _numbers(suite: SuiteHead | None, group: GroupSummary) -> dict[str, float]:
    """The numbers of a report by its own names for them; one that is not known is 0."""
    computed = figures(group, EMPTY) if suite is None else figures(group, suite.parameters, suite.timeout_s)
    numbers = {figure.name: figure.value for figure in computed}
    # A document that was read keeps the numbers that it was published with.
    numbers |= {figure.name: figure.value for figure in group.figures if figure.name in numbers}
    if numbers["consistencyScore"] is None:  # the published formula has one for a single run, too
        numbers["consistencyScore"] = consistency(group.run_pass_rates)
    return {name: number(value or 0) for name, value in numbers.items()}


def _version(suite: SuiteHead | None, target_id: str | None) -> str:
    """The version of a skill, empty if nothing tells it."""
    if suite is None:
        return ""
    versions = {target.id: target.version for target in suite.targets}
    return versions.get(target_id or "") or ""


def _interval(group: GroupSummary, facts: _Facts, seed: int) -> dict[str, float] | None:
    rate = group.pass_rate
    if rate.method == PUBLISHED_INTERVAL and rate.lower is not None and rate.upper is not None:
        # As it was read: the document does not tell the seed, so it could not be drawn again.
        return {"lower": rate.lower, "upper": rate.upper, "mean": rate.rate or 0.0, "level": rate.level}
    return mean_interval(facts.scores, seed)


def _additions(group: GroupSummary) -> dict[str, Any]:
    """Return the values that the original's document has no key for. A program that knows only it skips them."""
    added: dict[str, Any] = {"arm": group.arm, "runner": group.runner, "model": group.model, **_measured(group)}
    if group.pass_bounds is not None:
        lower, upper = map(number, group.pass_bounds)
        added["passBounds"] = {"lower": lower, "upper": upper}
    return {**added, "tags": [{"tag": tag.tag, **_measured(tag)} for tag in group.tags]}


def _standing(view: RunView, group: GroupSummary) -> dict[str, Any]:
    """Return the facts that decide whether the numbers prove anything, and compare with those of another run."""
    validity = next((suite for suite in view.summary.validity if suite.suite_id == group.suite_id), None)
    extra = {
        "validity": validity
        and {"valid": validity.valid, "errorShare": validity.error_share, "reason": validity.reason},
        "judges": [judge.model_dump(mode="json") for judge in view.head.judges],
        "cases": {case.id: case.digest for case in view.cases() if case.suite_id == group.suite_id and case.digest},
    }
    return {"state": view.run.state, **{name: value for name, value in extra.items() if value}}


def _measured(part: GroupSummary | TagSummary) -> dict[str, Any]:
    """A pass rate with all that it takes to trust it."""
    rate = {
        name: number(value) if isinstance(value, float) else value
        for name, value in asdict(part.pass_rate).items()
        if name != "clusters" or value is not None
    }
    return {"counts": part.counts.model_dump(), "passRate": rate}


def _task_result(result: TrialResult) -> dict[str, Any]:
    execution = result.execution
    status = _status(result)
    task: dict[str, Any] = {
        "taskId": result.case_id,
        "skillId": result.target_id or result.suite_id,
        "status": status,
        "score": number(result.value or 0),
        "latencyMs": number((execution.duration_s or 0) * 1000),
    }
    if execution.failure is None:
        task["output"] = _output(execution)
    if execution.failure is not None or status == "error":
        task["error"] = _error(result)
    scorer = result.scores[0].scorer if result.scores else UNKNOWN_SCORER
    task["scorerType"] = DOCUMENT_NAMES.get(scorer, scorer)
    reason = "; ".join(score.reason for score in result.scores if score.reason)
    if reason and status != "error":
        task["reason"] = reason
    task["runId"] = result.repeat
    spent = _Spent().plus(result)
    if spent is not None:
        task["usage"] = spent.document()
    if result.weight != 1:
        task["weight"] = number(result.weight)
    return task


def _output(execution: Execution) -> Any:
    return execution.text if execution.output is None else execution.output


def _error(result: TrialResult) -> str:
    """The failure of a task, else why its graders gave no verdict."""
    failure = result.execution.failure
    if failure is not None:
        return failure.message
    ungraded = [score.reason for score in result.scores if score.status is ScoreStatus.UNGRADED]
    return "; ".join(ungraded) or "no check gave a verdict"


def _status(result: TrialResult) -> str:
    """Return the status: a task that did not come to its end is an error, or a timeout if the skill took too long."""
    failure = result.execution.failure
    if result.verdict is Verdict.FAIL and failure is not None:
        return "timeout" if failure.failure_class is FailureClass.TIMEOUT else "error"
    return result.verdict.value


@immutable
class _Spent:
    """Tokens and money, as far as they are known."""

    prompt: int | None = None
    completion: int | None = None
    total: int | None = None
    usd: float | None = None

    def plus(self, result: TrialResult) -> _Spent | None:
        """These and what a trial used; `None` if nothing at all is known."""
        usage = result.execution.usage
        if usage is None:
            return None if self == _Spent() else self
        read = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        prompt = sum(part for part in read if part is not None) if any(part is not None for part in read) else None
        total = usage.total_tokens
        if total is None and prompt is not None and usage.output_tokens is not None:
            total = prompt + usage.output_tokens
        spent = _Spent(
            _plus(self.prompt, prompt),
            _plus(self.completion, usage.output_tokens),
            _plus(self.total, total),
            _plus(self.usd, usage.cost_usd),
        )
        return None if spent == _Spent() else spent

    def document(self) -> dict[str, Any]:
        """The known ones, as the document names them."""
        named = {
            "promptTokens": self.prompt,
            "completionTokens": self.completion,
            "totalTokens": self.total,
            "estimatedUSD": self.usd,
        }
        return {name: value for name, value in named.items() if value is not None}


def _plus(sum_: Any, part: Any) -> Any:
    return sum_ if part is None else part if sum_ is None else sum_ + part


@dataclass
class _Facts:
    """The facts about the results that stand in the head of a report, before them."""

    scores: array[float] = field(default_factory=lambda: array("d"))
    spent: _Spent | None = None
    unknown: int = 0
    """Trials of which tokens or cost are not known, so that sums are less than what was used."""

    def add(self, result: TrialResult) -> None:
        """Count one trial."""
        self.scores.append(result.value or 0.0)
        usage = result.execution.usage
        self.unknown += usage is None or usage.cost_usd is None
        if result.execution.usage is not None:
            self.spent = (self.spent or _Spent()).plus(result)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _indented(value: dict[str, Any], blanks: int) -> str:
    pad = " " * blanks
    return pad + json_text(json.dumps(value, indent=2, ensure_ascii=False)).replace("\n", f"\n{pad}")
