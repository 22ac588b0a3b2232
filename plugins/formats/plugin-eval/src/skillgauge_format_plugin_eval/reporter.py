"""Write aggregate-result.json; reading it is in `saved`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from skillgauge.api import Artifact, CaseHead, Score, SuiteHead, TrialResult, Verdict, thaw
from skillgauge.api.report import CaseReport, GroupKey, PairSummary, RunState, RunView, case_by_case

from .saved import OWN, saved_run

SCHEMA_VERSION = 1
_UNKNOWN_COST = "the cost of some of its runs is unknown, and counts as 0"


_PARTIAL = {RunState.INTERRUPTED: "interrupted", RunState.STOPPED: "cost_ceiling"}


class PluginEvalReporter:
    """One document for each suite, engine and model; several of them are a list."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """Write the documents; the results are read once, case by case."""
        documents = [draft.document(view) for draft in _drafts(view)]
        content = documents[0] if len(documents) == 1 else documents
        yield Artifact(chunks=[f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()])

    def read(self, path: Path) -> RunView | None:
        """Return the run that a document tells of, its figures computed anew.

        Raises:
            SuiteError: it is such a document, but damaged.
        """
        return saved_run(path)


@dataclass
class _Draft:
    """One document on its way."""

    suite: SuiteHead
    candidate: GroupKey
    baseline: GroupKey | None
    cases: list[dict[str, Any]] = field(default_factory=list)
    cost_usd: float = 0.0

    def add(self, report: CaseReport) -> None:
        """Take one case with its runs in both arms."""
        advisories: list[str] = []
        arms: dict[str, list[dict[str, Any]]] = {}
        for name, key in (("with", self.candidate), ("without", self.baseline)):
            if key is None:
                continue
            results = report.results.get(key, ())
            graded = [result for result in results if result.verdict in (Verdict.PASS, Verdict.FAIL)]
            arms[name] = [_run_document(result, is_baseline=name == "without") for result in graded]
            faults = [result for result in results if result.verdict is Verdict.ERROR]
            advisories += [f"{name}: run {result.repeat} was not graded: {_fault(result)}" for result in faults]
            costs = [cost for result in results if (cost := _cost(result)) is not None]
            self.cost_usd += sum(costs)
            if len(costs) < len(results):
                advisories.append(f"{name}: {_UNKNOWN_COST}")
        self.cases.append(_case_document(self.suite, report.case, arms, advisories))

    def document(self, view: RunView) -> dict[str, Any]:
        """Return the document once all cases are there."""
        run = view.run
        reason = _PARTIAL.get(run.state)
        return {
            "schemaVersion": SCHEMA_VERSION,
            "claudeVersion": self._engine_version(view),
            "startedAt": _moment(run.started_at),
            "durationSeconds": round((run.finished_at or run.started_at) - run.started_at),
            "costUsd": self.cost_usd,
            "partial": run.state is not RunState.FINISHED,
            **({"partialReason": reason} if reason else {}),
            "suite": self._suite_document(),
            "cases": self.cases,
            "aggregates": self._aggregates(),
            OWN: self._beyond(view),
        }

    def _suite_document(self) -> dict[str, Any]:
        suite, model = self.suite, self.candidate.model
        return {
            "root": suite.root,
            "ablation": "none" if self.baseline is None else "with-without",
            "threshold": 1,
            "plugins": [{"name": suite.name or suite.id, "path": suite.root}],
            **({"modelOverride": model} if model else {}),
        }

    def _aggregates(self) -> dict[str, Any]:
        """Return the plain means over the cases that have graded runs."""
        of_cases = [case["aggregates"] for case in self.cases if case["aggregates"]]
        deltas = [one["delta"] for one in of_cases if "delta" in one]
        return {
            "casesTotal": len(self.cases),
            "casesPassed": sum(one["score"] >= 1 for one in of_cases),
            "overallScore": _mean([one["score"] for one in of_cases]),
            "overallPassRate": _mean([one["passRate"] for one in of_cases]),
            **({"meanDelta": fmean(deltas)} if deltas else {}),
        }

    def _engine_version(self, view: RunView) -> str:
        runner = next((one for one in view.head.runners if one.name == self.candidate.runner), None)
        return (runner.version if runner else None) or "unknown"

    def _beyond(self, view: RunView) -> dict[str, Any]:
        """Return what the format has no place for: who ran, the verdict on these cases, and what was not graded."""
        pair = next((one for one in view.summary.pairs if one.candidate == self.candidate), None)
        groups = {group.key: group for group in view.summary.groups}
        validity = next((one for one in view.summary.validity if one.suite_id == self.suite.id), None)
        rates = {
            name: asdict(groups[key].pass_rate)
            for name, key in (("with", self.candidate), ("without", self.baseline))
            if key in groups
        }
        return {
            "version": 1,
            "suite": self.suite.id,
            "engine": self.candidate.runner,
            "model": self.candidate.model,
            "arms": {"with": self.candidate.arm, **({"without": self.baseline.arm} if self.baseline else {})},
            "state": view.run.state,
            "valid": validity.valid if validity else None,
            "passRate": rates,
            "lift": _lift(pair),
        }


def _lift(pair: PairSummary | None) -> dict[str, Any] | None:
    if pair is None or pair.evidence is None:
        return None
    return {"dropped": pair.dropped.model_dump(mode="json"), **asdict(pair.evidence)}


def _drafts(view: RunView) -> list[_Draft]:
    """Return a draft for each suite, engine and model, filled with its cases."""
    drafts: dict[tuple[str, str, str | None], _Draft] = {}
    suites = {suite.id: suite for suite in view.head.suites}
    for suite in view.head.suites:
        pair = next(iter(suite.compared), None)
        arm = pair.candidate if pair else next(iter(suite.arms), "")
        for group in view.summary.groups:
            if group.suite_id == suite.id and group.arm == arm:
                baseline = group.key.in_arm(pair.baseline) if pair else None
                drafts[suite.id, group.runner, group.model] = _Draft(suite, group.key, baseline)
    for report in case_by_case(view):
        if report.case.suite_id not in suites:
            continue
        for key in dict.fromkeys((key.runner, key.model) for key in report.results):
            draft = drafts.get((report.case.suite_id, *key))
            if draft is not None:
                draft.add(report)
    return list(drafts.values())


def _case_document(
    suite: SuiteHead, case: CaseHead, arms: Mapping[str, Sequence[dict[str, Any]]], advisories: list[str]
) -> dict[str, Any]:
    by_case = suite.parameters.get("cases")
    own = by_case.get(case.id) if isinstance(by_case, Mapping) else None
    own = own if isinstance(own, Mapping) else {}
    runs = [run for of_arm in arms.values() for run in of_arm]
    return {
        "name": case.name or case.id,
        "dir": str(Path(suite.root, str(own.get("dir") or case.id))),
        "source": own.get("source") or "case_yaml",
        "promptMarkdown": case.prompt or "",
        "runsPerCase": own.get("runs") or suite.runs,
        "timeoutSeconds": own.get("timeoutSeconds") or round(suite.timeout_s or 0),
        "maxTurns": own.get("maxTurns") or 0,
        "graders": _grader_documents(runs, own.get("graders")),
        "arms": arms,
        **({"advisories": advisories} if advisories else {}),
        "aggregates": _aggregates(arms),
        OWN: {"id": case.id, "cluster": case.cluster, "tags": list(case.tags)},
    }


def _grader_documents(runs: list[dict[str, Any]], written: object) -> list[dict[str, Any]]:
    """Return the graders of a case as they were written, or as far as its runs tell them."""
    configs = written if isinstance(written, Mapping) else {}
    graders = {one["name"]: one for run in runs for one in run["graders"]}
    return [
        {
            "name": name,
            "type": str(_config(configs, name).get("type") or one["scorer"]),
            "weight": one["weight"],
            "config": _config(configs, name),
        }
        for name, one in graders.items()
    ]


def _config(configs: Mapping[str, Any], name: str) -> dict[str, Any]:
    config = configs.get(name)
    return thaw(config) if isinstance(config, Mapping) else {}


def _aggregates(arms: Mapping[str, Sequence[dict[str, Any]]]) -> dict[str, float]:
    """Return the means of a case over its graded runs; none where the arm with the plugin has none."""
    means: dict[str, float] = {}
    for name, suffix in (("with", ""), ("without", "Without")):
        runs = arms.get(name, ())
        if runs:
            means[f"score{suffix}"] = fmean(run["score"] for run in runs)
            means[f"passRate{suffix}"] = fmean(run["passed"] for run in runs)
    if "score" not in means:
        return {}
    if "scoreWithout" in means:
        means["delta"] = means["score"] - means["scoreWithout"]
    return means


def _run_document(result: TrialResult, *, is_baseline: bool) -> dict[str, Any]:
    """Return a run; as in the program, graders beside the verdict are told of the arm with the plugin alone."""
    execution = result.execution
    failure, usage = execution.failure, execution.usage
    judges = [score.usage.cost_usd or 0 for score in result.scores if score.usage]
    return {
        "score": result.value or 0,
        "passed": result.verdict is Verdict.PASS,
        "turns": _turns(result),
        "costUsd": _cost(result) or 0,
        "judgeCostUsd": sum(judges),
        "durationSeconds": execution.duration_s or 0,
        "startedAt": _moment(result.started_at),
        "error": failure.message if failure else None,
        "tracePath": "",
        "skippedPaidGraders": False,
        "graders": [_graded(score) for score in result.scores if not (is_baseline and score.beside)],
        OWN: {
            "repeat": result.repeat,
            "tokens": usage.all_tokens if usage else None,
            "replayed": execution.replayed,
        },
    }


def _turns(result: TrialResult) -> int:
    trajectory = result.execution.trajectory
    return (trajectory.turns if trajectory else None) or 0


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _graded(score: Score) -> dict[str, Any]:
    return {
        "name": score.check_id,
        "passed": score.value == 1,
        "weight": score.weight,
        "explanation": score.reason,
        "withOnly": score.beside,
        "scored": not score.beside,
        "scorer": score.scorer,
    }


def _fault(result: TrialResult) -> str:
    if result.execution.failure is not None:
        return result.execution.failure.message
    return "; ".join(score.reason for score in result.scores if score.value is None)


def _cost(result: TrialResult) -> float | None:
    """Return what a run cost, judges included; `None` if some part does not tell."""
    costs = [usage.cost_usd if usage else None for usage in result.usages]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
