"""What benchmark.json says of one skill, computed in one pass over the results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from skillgauge.api import (
    EventKind,
    Json,
    RunView,
    Score,
    ScoreStatus,
    SuiteHead,
    TrialResult,
    Usage,
    Verdict,
)

Key = tuple[str, str, str | None]
"""Suite, engine, model."""
MEASURES = ("pass_rate", "time_seconds", "tokens")


def key_of(result: TrialResult) -> Key:
    """Which document a trial belongs to."""
    return result.suite_id, result.runner, result.model


@dataclass
class _Statistics:
    """Mean, spread and extremes of what is known, as it comes (Welford)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, value: float) -> None:
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        self.squares += off * (value - self.mean)
        self.least, self.most = min(self.least, value), max(self.most, value)

    def document(self) -> dict[str, float | None]:
        """Unknown is null; the spread is over all runs pooled, as the original has it, and no error bar."""
        if not self.count:
            return dict.fromkeys(("mean", "stddev", "min", "max"))
        spread = math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0
        values = {"mean": self.mean, "stddev": spread, "min": self.least, "max": self.most}
        return {name: round(value, 4) for name, value in values.items()}


@dataclass
class Tally:
    """What all runs of one document come to."""

    cases: dict[str, None] = field(default_factory=dict)
    repeats: int = 0
    statistics: dict[str, dict[str, _Statistics]] = field(default_factory=dict)
    """By configuration and measure."""
    by_case: dict[str, dict[str, dict[str, _Statistics]]] = field(default_factory=dict)
    """By configuration, measure and case, for the difference of pairs."""

    def add(self, result: TrialResult) -> None:
        """Count one trial."""
        self.cases[result.case_id] = None
        self.repeats = max(self.repeats, result.repeat)
        arm = self.statistics.setdefault(result.arm, {name: _Statistics() for name in MEASURES})
        of_cases = self.by_case.setdefault(result.arm, {name: {} for name in MEASURES})
        for name, value in measures(result).items():
            if value is not None:
                arm[name].add(value)
                of_cases[name].setdefault(result.case_id, _Statistics()).add(value)

    def delta(self, candidate: str | None, baseline: str | None) -> tuple[dict[str, str | None], list[str]]:
        """Signed differences of the means over paired cases, and the cases without a pair."""
        if candidate not in self.by_case or baseline not in self.by_case:
            return dict.fromkeys(MEASURES), []
        delta: dict[str, str | None] = {}
        for name in MEASURES:
            ours, theirs = self.by_case[candidate][name], self.by_case[baseline][name]
            paired = [case for case in ours if case in theirs]
            off = [ours[case].mean - theirs[case].mean for case in paired]
            delta[name] = _signed(name, sum(off) / len(off)) if off else None
        rates = [set(self.by_case[arm]["pass_rate"]) for arm in (candidate, baseline)]
        return delta, [case for case in self.cases if not all(case in known for known in rates)]


def _signed(name: str, value: float) -> str:
    return f"{value:+.{ {'pass_rate': 2, 'time_seconds': 1}.get(name, 0) }f}"


def measures(result: TrialResult) -> dict[str, float | None]:
    """What is measured of one trial; `None` is unknown. An error has no pass rate."""
    graded = [score for score in result.scores if score.status is not ScoreStatus.UNGRADED]
    rate: float | None = None
    if result.verdict in (Verdict.PASS, Verdict.FAIL):
        rate = sum(score.status is ScoreStatus.PASSED for score in graded) / len(graded) if graded else 0.0
    return {"pass_rate": rate, "time_seconds": result.execution.duration_s, "tokens": _tokens(result.execution.usage)}


def _tokens(usage: Usage | None) -> float | None:
    if usage is None or usage.total_tokens is not None:
        return usage.total_tokens if usage else None
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0) + usage.output_tokens


def eval_id(suite: SuiteHead, case_id: str) -> int | str:
    """The id as the file had it."""
    integers = suite.parameters.get("integer_ids")
    return int(case_id) if isinstance(integers, tuple) and case_id in integers else case_id


def run_document(suite: SuiteHead, result: TrialResult) -> dict[str, Any]:
    """One of `runs`."""
    names = suite.parameters.get("eval_names")
    known = measures(result)
    passed = sum(score.status is ScoreStatus.PASSED for score in result.scores)
    failed = sum(score.status is ScoreStatus.FAILED for score in result.scores)
    events = result.execution.trajectory.events if result.execution.trajectory else None
    failure = result.execution.failure
    notes = [failure.message] if failure else []
    notes += [f"not graded: {score.check_id}: {score.reason}" for score in result.scores if score.value is None]
    return {
        "eval_id": eval_id(suite, result.case_id),
        "eval_name": str(names.get(result.case_id, result.case_id)) if isinstance(names, Mapping) else result.case_id,
        "configuration": result.arm,
        "run_number": result.repeat,
        "result": {
            "pass_rate": None if known["pass_rate"] is None else round(known["pass_rate"], 4),
            "passed": passed,
            "failed": failed,
            "total": len(result.scores),
            "time_seconds": known["time_seconds"],
            "tokens": known["tokens"],
            "tool_calls": _count(events, EventKind.TOOL_CALL),
            "errors": None if events is None else sum(event.is_error for event in events),
        },
        "expectations": [
            {"text": score.check_id, "passed": score.status is ScoreStatus.PASSED, "evidence": _evidence(score)}
            for score in result.scores
        ],
        "notes": notes,
    }


def _count(events: tuple[Any, ...] | None, kind: EventKind) -> int | None:
    return None if events is None else sum(event.kind is kind for event in events)


def _evidence(score: Score) -> str:
    return score.reason or score.status.value


def metadata(view: RunView, suite: SuiteHead, model: str | None, runner: str, tally: Tally) -> dict[str, Json]:
    """`metadata` of a document."""
    return {
        "skill_name": suite.name or suite.id,
        "skill_path": suite.root,
        "executor_model": model,
        "analyzer_model": None,
        "timestamp": datetime.fromtimestamp(view.run.started_at, UTC)
        .isoformat(timespec="seconds")
        .replace("+00:00", "Z"),
        "evals_run": tuple(eval_id(suite, case) for case in tally.cases),
        "runs_per_configuration": tally.repeats,
        "skillgauge": {"suite": suite.id, "engine": runner, "candidate": suite.candidate, "baseline": suite.baseline},
    }


def run_summary(suite: SuiteHead, tally: Tally) -> tuple[dict[str, Any], list[str]]:
    """`run_summary`, and notes about what it leaves out."""
    summary: dict[str, Any] = {
        arm: {name: one.document() for name, one in statistics.items()} for arm, statistics in tally.statistics.items()
    }
    delta, unpaired = tally.delta(suite.candidate, suite.baseline)
    summary["delta"] = delta
    return summary, [f"eval {case} was not graded in both configurations, so delta leaves it out" for case in unpaired]
