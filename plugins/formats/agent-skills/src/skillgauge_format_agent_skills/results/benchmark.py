"""The content of benchmark.json about one skill, computed in one pass over the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isclose
from typing import Any

from skillgauge.api import Comparison, EventKind, Json, Score, ScoreStatus, SuiteHead, TrialResult, Usage, Verdict
from skillgauge.api.report import RunView
from skillgauge.stats import PairedDifference, Spread

MEASURES = ("pass_rate", "time_seconds", "tokens")


@dataclass(frozen=True)
class Key:
    """The document that a trial belongs to."""

    suite_id: str
    runner: str
    model: str | None

    @classmethod
    def of(cls, result: TrialResult) -> Key:
        """The key of a trial's document."""
        return cls(result.suite_id, result.runner, result.model)


def is_graded(result: TrialResult) -> bool:
    """Tell whether a run has a pass rate: one without is an error; the original would show it as a failed run."""
    return result.verdict in (Verdict.PASS, Verdict.FAIL)


Spreads = dict[str, dict[str, Spread]]
"""By configuration and measure."""


@dataclass
class Tally:
    """The sums of all runs of one document. It grows with the number of cases by their ids only."""

    cases: dict[str, None] = field(default_factory=dict)
    unpaired: list[str] = field(default_factory=list)
    """Cases without a pass rate in one of the configurations that are compared."""
    repeats: int = 0
    spreads: Spreads = field(default_factory=dict)
    delta: dict[str, PairedDifference] = field(default_factory=dict)
    """By measure."""

    def add_case(self, results: Sequence[TrialResult], comparison: Comparison | None) -> None:
        """Count all trials of one case."""
        of_case: Spreads = {}
        for result in results:
            self.repeats = max(self.repeats, result.repeat)
            if result.verdict is Verdict.ERROR and result.execution.failure:
                continue  # a session that died is quick and cheap, and no saving
            for spreads in (self.spreads, of_case):
                arm = spreads.setdefault(result.arm, {name: Spread() for name in MEASURES})
                for name, value in measures(result).items():
                    if value is not None:
                        arm[name].add(value)
        case_id = results[0].case_id
        self.cases[case_id] = None
        if comparison is not None and not self._add_pair(of_case, comparison):
            self.unpaired.append(case_id)

    def _add_pair(self, of_case: Spreads, comparison: Comparison) -> bool:
        """Note the case if it has a pass rate in both configurations."""
        arms = [of_case.get(arm, {}) for arm in (comparison.candidate, comparison.baseline)]
        for name in MEASURES:
            ours, theirs = (arm.get(name, Spread()) for arm in arms)
            if ours.n and theirs.n:
                self.delta.setdefault(name, PairedDifference()).add(ours.mean, theirs.mean)
        return all("pass_rate" in arm and arm["pass_rate"].n for arm in arms)


def _document_of(spread: Spread) -> dict[str, float]:
    """The spread is over all runs pooled, as the original has it, and no error bar."""
    values = {"mean": spread.mean, "stddev": spread.stddev, "min": spread.least, "max": spread.most}
    return {name: round(value, 4) for name, value in values.items()}


def _signed(name: str, value: float) -> str:
    digits = {"pass_rate": 2, "time_seconds": 1}.get(name, 0)
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def measures(result: TrialResult) -> dict[str, float | None]:
    """Return the measures of one trial; `None` is unknown. An error has no pass rate."""
    graded = expectations(result)
    rate: float | None = None
    if is_graded(result):
        rate = sum(score.status is ScoreStatus.PASSED for score in graded) / len(graded) if graded else 0.0
    return {"pass_rate": rate, "time_seconds": result.execution.duration_s, "tokens": _tokens(result.execution.usage)}


def expectations(result: TrialResult) -> list[Score]:
    """Return the results of the graded expectations of a run: checks beside the verdict are none."""
    return [score for score in result.scores if score.status is not ScoreStatus.UNGRADED and not score.beside]


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
    values = measures(result)
    graded = expectations(result)
    passed = sum(score.status is ScoreStatus.PASSED for score in graded)
    events = result.execution.trajectory.events if result.execution.trajectory else None
    failure = result.execution.failure
    notes = [failure.message] if failure else []
    ungraded = [score for score in result.scores if score.value is None and not score.beside]
    notes += [f"not graded: {score.check_id}: {score.reason}" for score in ungraded]
    return {
        "eval_id": eval_id(suite, result.case_id),
        "eval_name": str(names.get(result.case_id, result.case_id)) if isinstance(names, Mapping) else result.case_id,
        "configuration": result.arm,
        "run_number": result.repeat,
        "result": {
            "pass_rate": None if values["pass_rate"] is None else round(values["pass_rate"], 4),
            "passed": passed,
            "failed": len(graded) - passed,
            "total": len(graded),
            "time_seconds": values["time_seconds"],
            "tokens": values["tokens"],
            "tool_calls": _count(events, EventKind.TOOL_CALL),
            "errors": None if events is None else sum(event.is_error for event in events),
        },
        "expectations": [
            {"text": score.check_id, "passed": score.status is ScoreStatus.PASSED, "evidence": _evidence(score)}
            for score in graded
        ],
        "notes": notes,
        **_own(result),
    }


_OUTCOMES = {ScoreStatus.PASSED: True, ScoreStatus.FAILED: False, ScoreStatus.UNGRADED: None}


def _own(result: TrialResult) -> dict[str, Any]:
    """Return the values that the original has no key for: checks beside the verdict, unknown as null, and failures."""
    beside = [
        {"text": score.check_id, "passed": _OUTCOMES[score.status], "evidence": score.reason}
        for score in result.scores
        if score.beside
    ]
    failure = result.execution.failure
    extra: dict[str, Any] = {"beside": beside} if beside else {}
    extra |= {"failure": {"class": failure.failure_class, "blame": failure.blame}} if failure else {}
    return {"skillgauge": extra} if extra else {}


def _count(events: tuple[Any, ...] | None, kind: EventKind) -> int | None:
    return None if events is None else sum(event.kind is kind for event in events)


def _evidence(score: Score) -> str:
    return score.reason or score.status.value


def metadata(view: RunView, suite: SuiteHead, key: Key, tally: Tally) -> dict[str, Json]:
    """`metadata` of a document."""
    comparison = compared(suite)
    return {
        "skill_name": suite.name or suite.id,
        "skill_path": suite.root,
        "executor_model": key.model,
        "analyzer_model": None,
        "timestamp": datetime.fromtimestamp(view.run.started_at, UTC)
        .isoformat(timespec="seconds")
        .replace("+00:00", "Z"),
        "evals_run": tuple(eval_id(suite, case) for case in tally.cases),
        "runs_per_configuration": tally.repeats,
        "skillgauge": {
            "suite": suite.id,
            "engine": key.runner,
            "candidate": comparison.candidate if comparison else None,
            "baseline": comparison.baseline if comparison else None,
            "state": view.run.state,
            "validity": _validity(view, suite),
            "judges": tuple(judge.model_dump(mode="json") for judge in view.head.judges),
            "cases": _digests(view, suite, tally),
        },
    }


def _validity(view: RunView, suite: SuiteHead) -> dict[str, Json] | None:
    """Return the validity of this suite's runs."""
    validity = next((one for one in view.summary.validity if one.suite_id == suite.id), None)
    return (
        {"valid": validity.valid, "error_share": validity.error_share, "reason": validity.reason} if validity else None
    )


def _digests(view: RunView, suite: SuiteHead, tally: Tally) -> dict[str, str]:
    """Return the digests that tell whether an eval asks and checks the same in another run."""
    heads = (case for case in view.cases() if case.suite_id == suite.id and case.id in tally.cases)
    return {case.id: case.digest for case in heads if case.digest}


def compared(suite: SuiteHead) -> Comparison | None:
    """The comparison of a document, which has one at most."""
    return suite.comparisons[0] if suite.comparisons else None


def run_summary(suite: SuiteHead, tally: Tally) -> tuple[dict[str, Any], list[str]]:
    """`run_summary`, and notes about what it leaves out."""
    comparison = compared(suite)
    arms = sorted(tally.spreads, key=lambda arm: (arm not in suite.arms, [*suite.arms, arm].index(arm)))
    summary: dict[str, Any] = {
        # What is unknown is left out: the original's page counts on numbers in what is there.
        arm: {name: _document_of(one) for name, one in tally.spreads[arm].items() if one.n}
        for arm in arms
    }
    delta = dict[str, str | None].fromkeys(MEASURES)
    if comparison is None or not {comparison.candidate, comparison.baseline} <= tally.spreads.keys():
        return {**summary, "delta": delta}, []
    delta |= {name: _signed(name, found.mean or 0.0) for name, found in tally.delta.items()}
    notes = [f"eval {case} was not graded in both configurations, so delta leaves it out" for case in tally.unpaired]
    if not notes and (apart := ", ".join(_apart(tally, comparison))):
        why = "it averages the runs of each eval first, and some evals have more known runs than others"
        notes = [f"delta is not the difference of the means above ({apart}): {why}"]
    return {**summary, "delta": delta}, notes


def _apart(tally: Tally, comparison: Comparison) -> list[str]:
    """Measures whose paired difference is not that of the two means, which are over all runs pooled."""
    ours, theirs = (tally.spreads[arm] for arm in (comparison.candidate, comparison.baseline))
    return [
        name
        for name, figures in tally.delta.items()
        if not isclose(figures.mean or 0.0, ours[name].mean - theirs[name].mean, rel_tol=0, abs_tol=1e-9)
    ]
