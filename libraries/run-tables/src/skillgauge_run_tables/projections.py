"""The records of a run: each kind from a `RunView`, one after another, so that a run of any length streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from skillgauge.api import ScoreStatus, TrialResult, Usage, Verdict
from skillgauge.api.report import (
    CaseReport,
    CaseSummary,
    GroupKey,
    GroupSummary,
    PairSummary,
    RunView,
    abridged_results,
    case_by_case,
    compared,
    headline,
    reason_of,
)
from skillgauge.stats import Finding, MeanRatio

Row = Mapping[str, Any]
_GRADED = {Verdict.PASS: True, Verdict.FAIL: False}


@dataclass(frozen=True)
class SourcedRun:
    """A run with the place it was read from."""

    view: RunView
    source: str
    is_own: bool | None
    """Whether this user's key signed it; `None` if that cannot be told of such a place."""

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return self.view.run.run_id

    def is_baseline(self, group: GroupKey) -> bool:
        """Tell whether a group only serves to compare others with it."""
        suite = self.view.head.suites_by_id.get(group.suite_id)
        return suite is not None and suite.is_baseline(group.arm)

    def is_valid(self, suite_id: str) -> bool | None:
        """Tell whether a suite's results prove anything; `None` if the run does not tell."""
        return next((one.valid for one in self.view.summary.validity if one.suite_id == suite_id), None)


def run_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield the record of a run itself."""
    view, head, summary = run.view, run.view.head, run.view.summary
    counts, groups = summary.counts, summary.groups
    validity = [one.valid for one in summary.validity]
    yield {
        "run_id": run.run_id,
        "source": run.source,
        "state": view.run.state.value,
        "verdict": view.verdict.value if view.verdict else None,
        "is_valid": all(validity) if validity else None,
        "is_own": run.is_own,
        "started_at": _moment(view.run.started_at),
        "finished_at": None if view.run.finished_at is None else _moment(view.run.finished_at),
        "suites": _joined(suite.id for suite in head.suites),
        "targets": _joined(target.id for suite in head.suites for target in suite.targets),
        "engines": _joined((*(one.name for one in head.runners), *(group.runner for group in groups))),
        "models": _joined((*head.models, *(group.model for group in groups if group.model))),
        "judges": _joined(judge.name for judge in head.judges),
        "repeats": head.runs,
        "trials": counts.total,
        "planned_trials": head.trial_count,
        "passed_trials": counts.passed,
        "failed_trials": counts.failed,
        "error_trials": counts.errors,
        "skipped_trials": counts.skipped,
        "cost_usd": getattr(summary.spending, "cost_usd", None),
        "tokens": getattr(summary.spending, "tokens", None),
        "unknown_cost_trials": getattr(summary.spending, "unknown", None),
        "seed": head.seed,
        "plan_id": head.plan_id,
        "schema_version": head.schema_version,
    }


def group_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield the groups of a run with their rates."""
    for group in run.view.summary.groups:
        shown, counts = headline(group), group.counts
        rate = shown.interval
        yield {
            **_lane(run, group.key),
            "arm": group.arm,
            "engine": group.runner,
            "model": group.model,
            "is_baseline": run.is_baseline(group.key),
            "is_valid": run.is_valid(group.suite_id),
            "figure": shown.name,
            "rate": shown.value,
            "rate_lower": rate.lower if rate else None,
            "rate_upper": rate.upper if rate else None,
            "rate_level": rate.level if rate and rate.method else None,
            "rate_method": rate.method if rate else None,
            "cases": rate.n if rate else group.pass_rate.n,
            "trials": counts.total,
            "passed_trials": counts.passed,
            "failed_trials": counts.failed,
            "error_trials": counts.errors,
            "skipped_trials": counts.skipped,
            "mean_value": group.mean_value,
            "p50_s": group.latency.p50_s,
            "p95_s": group.latency.p95_s,
            "flaky_cases": group.reliability.flaky if group.reliability else None,
        }


def comparison_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield the comparisons of a run with their lifts."""
    groups = {group.key: group for group in run.view.summary.groups}
    proving = {id(pair) for pair in compared(run.view)}
    for pair in run.view.summary.pairs:
        yield {
            **_lane(run, pair.candidate),
            "engine": pair.candidate.runner,
            "model": pair.candidate.model,
            "arm": pair.candidate.arm,
            "baseline": pair.baseline.arm,
            **_lift(pair, is_valid=id(pair) in proving),
            **_rate(groups.get(pair.candidate), "rate"),
            **_rate(groups.get(pair.baseline), "baseline"),
            "flips_to_pass": pair.outcomes.flip_to_pass,
            "flips_to_fail": pair.outcomes.flip_to_fail,
            "cost_ratio": _ratio(pair.ratios.cost_usd),
            "token_ratio": _ratio(pair.ratios.tokens),
            "time_ratio": _ratio(pair.ratios.duration_s),
        }


def _lift(pair: PairSummary, *, is_valid: bool) -> Row:
    """Return the lift of a comparison; one that proves nothing has its estimate, and nothing that rests on it."""
    proof = pair.evidence if is_valid else None
    finding = proof.finding if proof and not pair.is_same else None
    known = {
        "is_valid": is_valid,
        "finding": finding.value if finding else None,
        "finding_cases": None,
        "cases": pair.n,
        "lift": pair.lift,
    }
    if proof is None:
        return known | dict.fromkeys(_PROOF)
    if finding in (Finding.HELPS, Finding.HURTS):
        known["finding_cases"] = "new" if proof.is_general else "these"
    here, new = proof.interval_here, proof.interval
    bounds = (new.lower, new.upper) if new else (None, None)
    values = (here.lower, here.upper, here.level, proof.chance, *bounds, proof.chance_new)
    return known | dict(zip(_PROOF, values, strict=True))


_PROOF = ("lift_lower", "lift_upper", "lift_level", "chance", "new_lower", "new_upper", "new_chance")
"""What rests on the evidence of a comparison that proves something."""


def _rate(group: GroupSummary | None, prefix: str) -> Row:
    """Return the pass rate of a group under names that begin with a prefix."""
    rate = group.pass_rate if group else None
    middle = "baseline_rate" if prefix == "baseline" else prefix
    return {
        middle: rate.rate if rate else None,
        f"{prefix}_lower": rate.lower if rate else None,
        f"{prefix}_upper": rate.upper if rate else None,
    }


def case_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield every case of a run, once for each group that has results of it."""
    for report in case_by_case(run.view, is_abridged=True):
        for group in report.results:
            yield _case_row(run, report, report.summaries[group])


def _case_row(run: SourcedRun, report: CaseReport, summary: CaseSummary) -> Row:
    group, case, counts, spent = summary.group, report.case, summary.counts, summary.spent
    pair = next((pair for pair in report.pairs if pair.candidate == group), None)
    return {
        "run_id": run.run_id,
        "suite_id": group.suite_id,
        "case_id": case.id,
        "case_name": case.name,
        "case_index": case.index,
        "case_digest": case.digest or None,
        "tags": _joined(case.tags),
        "cluster": summary.cluster or None,
        "target_id": group.target_id,
        "arm": group.arm,
        "engine": group.runner,
        "model": group.model,
        "is_baseline": run.is_baseline(group),
        "outcome": summary.outcome.value,
        "trials": counts.total,
        "passed_trials": counts.passed,
        "failed_trials": counts.failed,
        "error_trials": counts.errors,
        "skipped_trials": counts.skipped,
        "pass_share": counts.pass_share,
        "mean_value": summary.mean_value,
        "fired_trials": summary.fired.fired if summary.fired else None,
        "passed_turns": spent.turns,
        "passed_tokens": spent.tokens,
        "passed_duration_s": spent.duration_s,
        "passed_cost_usd": spent.cost_usd,
        "baseline": pair.baseline.arm if pair else None,
        "change": pair.outcome.value if pair and pair.outcome else None,
        "difference": pair.difference if pair else None,
    }


def trial_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield every trial of a run that has ended, in the order of the plan."""
    for result in abridged_results(run.view.source):
        execution = result.execution
        counting = [score for score in result.scores if not score.beside]
        yield {
            "run_id": run.run_id,
            "trial_id": result.trial_id,
            "execution_id": result.execution_id,
            "ordinal": result.ordinal,
            "suite_id": result.suite_id,
            "case_id": result.case_id,
            "case_index": result.case_index,
            "tags": _joined(result.tags),
            "cluster": result.cluster or None,
            "weight": result.weight,
            "target_id": result.target_id,
            "arm": result.arm,
            "engine": result.runner,
            "model": result.model,
            **_session(result),
            "repeat": result.repeat,
            "is_baseline": run.is_baseline(result.group),
            "verdict": result.verdict.value,
            "passed": _GRADED.get(result.verdict),
            "value": result.value if result.verdict in _GRADED else None,
            "reason": reason_of(result) or None,
            "failure_class": execution.failure.failure_class.value if execution.failure else None,
            "blame": execution.failure.blame.value if execution.failure else None,
            "checks": len(counting),
            "passed_checks": sum(score.status is ScoreStatus.PASSED for score in counting),
            "started_at": _moment(result.started_at),
            "duration_s": execution.duration_s,
            "attempts": result.attempts,
            **{name: getattr(execution.usage, name, None) for name in _USAGE},
            "total_tokens": _all_tokens(execution.usage),
            "is_replayed": execution.replayed,
            "sandbox": execution.sandbox,
            "arm_integrity": execution.arm_integrity,
        }


_USAGE = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "cost_basis",
)


def _all_tokens(usage: Usage | None) -> int | None:
    """Return all tokens of a usage; `None` if it reports none of any kind, which is not 0."""
    if usage is None:
        return None
    kinds = (usage.total_tokens, usage.input_tokens, usage.cache_read_tokens, usage.output_tokens)
    return None if all(kind is None for kind in kinds) else usage.all_tokens


def _session(result: TrialResult) -> Row:
    """Return the facts of the session of an agent."""
    session = result.execution.trajectory
    fired = session.skills_fired if session else None
    return {
        "model_answered": session.model if session else None,
        "turns": session.turns if session else None,
        "model_calls": session.model_calls if session else None,
        "skill_fired": None if fired is None else bool(fired),
    }


def check_rows(run: SourcedRun) -> Iterator[Row]:
    """Yield every check of every trial."""
    graded = {ScoreStatus.PASSED: True, ScoreStatus.FAILED: False}
    for result in abridged_results(run.view.source):
        for index, score in enumerate(result.scores):
            yield {
                "run_id": run.run_id,
                "trial_id": result.trial_id,
                "suite_id": result.suite_id,
                "case_id": result.case_id,
                "target_id": result.target_id,
                "arm": result.arm,
                "engine": result.runner,
                "model": result.model,
                "repeat": result.repeat,
                "verdict": result.verdict.value,
                "check_index": index,
                "check_id": score.check_id,
                "scorer": score.scorer,
                "scorer_version": score.scorer_version,
                "status": score.status.value,
                "passed": graded.get(score.status),
                "value": score.value if score.status in graded else None,
                "weight": score.weight,
                "is_beside": score.beside,
                "reason": score.reason or None,
                "judge_tokens": _all_tokens(score.usage),
                "judge_cost_usd": score.usage.cost_usd if score.usage else None,
            }


PROJECTIONS: Mapping[str, Callable[[SourcedRun], Iterable[Row]]] = {
    "runs": run_rows,
    "groups": group_rows,
    "comparisons": comparison_rows,
    "cases": case_rows,
    "trials": trial_rows,
    "checks": check_rows,
}
"""What makes each kind of record of a run."""


def first_rows(rows: Iterable[Row], most: int) -> tuple[list[Row], bool]:
    """Return the first records, and whether there are more."""
    begun = list(islice(rows, most + 1))
    return begun[:most], len(begun) > most


def _lane(run: SourcedRun, group: GroupKey) -> Row:
    return {"run_id": run.run_id, "suite_id": group.suite_id, "target_id": group.target_id}


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def _ratio(ratio: MeanRatio | None) -> float | None:
    return ratio.ratio if ratio else None
