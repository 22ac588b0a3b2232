"""What `eval` prints: the JSON document of `--json`, and the lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..assembly import Assembled
from ..gates import Decision
from ..types.frozen import Frozen
from ..types.result import Figure, GroupSummary, RunInfo, RunView, Summary, TrialResult
from ..types.trial import PlanHead
from .output import problem_document


class ProblemDocument(Frozen):
    """A problem that did not stop the run."""

    code: str
    severity: str
    message: str
    file: str | None
    line: int | None
    column: int | None
    hint: str | None


class EvalDocument(Frozen):
    """The document of `eval --json`."""

    schema_version: str = "1.0"
    exit_code: int
    verdict: str
    notices: tuple[str, ...] = ()
    sandbox: str
    run: RunInfo
    plan: PlanHead
    summary: Summary
    reports: dict[str, str]
    """Path of each report that was written, by reporter."""
    problems: tuple[ProblemDocument, ...] = ()
    """Warnings, and files that a search passed over."""
    results: tuple[TrialResult, ...]


class PlanDocument(Frozen):
    """The document of `eval --dry-run --json`."""

    schema_version: str = "1.0"
    dry_run: bool = True
    sandbox: str
    plan: PlanHead
    problems: tuple[ProblemDocument, ...] = ()


def document(view: RunView, decision: Decision, written: Mapping[str, Path], assembled: Assembled) -> dict[str, object]:
    """The run as one JSON document."""
    return {
        "schema_version": "1.0",
        "exit_code": int(decision.exit_code),
        "verdict": decision.verdict,
        "notices": list(decision.notices),
        "sandbox": assembled.sandbox,
        "run": view.run.model_dump(mode="json"),
        "plan": view.head.model_dump(mode="json"),
        "summary": view.summary.model_dump(mode="json"),
        "reports": {name: str(path) for name, path in written.items()},
        "problems": [problem_document(problem) for problem in (*assembled.warnings, *assembled.passed_over)],
        "results": [json.loads(result.model_dump_json(exclude_defaults=True)) for result in view.results()],
    }


def plan_document(assembled: Assembled) -> dict[str, object]:
    """What would run, as one JSON document."""
    return {
        "schema_version": "1.0",
        "dry_run": True,
        "sandbox": assembled.sandbox,
        "plan": assembled.plan.head.model_dump(mode="json"),
        "problems": [problem_document(problem) for problem in (*assembled.warnings, *assembled.passed_over)],
    }


def human_lines(view: RunView) -> Iterator[str]:
    """One line per group: the pass rate with what is needed to trust it, then the format's own figures."""
    for group in view.summary.groups:
        yield f"{group_name(group)} — {rate_text(group)}{_figures(group)}"


def group_name(group: GroupSummary) -> str:
    """Target, arm and model of a group, as far as they tell it from others."""
    parts = [group.target_id, group.arm if group.arm != "direct" else None, group.model]
    return " · ".join(part for part in parts if part)


def rate_text(group: GroupSummary) -> str:
    """The pass rate with interval, number of cases and errors."""
    rate = group.pass_rate
    if rate.rate is None:
        return f"no result ({group.counts.errors} errors)"
    interval = f", {rate.lower:.1%} to {rate.upper:.1%}" if rate.lower is not None and rate.upper is not None else ""
    errors = f", {group.counts.errors} errors" if group.counts.errors else ""
    method = f", {rate.method}" if rate.method else ""
    return f"pass rate {rate.rate:.1%} (n = {rate.n} cases{interval}{method}{errors})"


def _figures(group: GroupSummary) -> str:
    shown = [f"{figure.label}: {_figure(figure)}" for figure in group.figures if figure.value is not None]
    return "".join(f" | {one}" for one in shown)


def _figure(figure: Figure) -> str:
    value = figure.value or 0.0
    match figure.unit:
        case "ratio":
            return f"{value:.1%}"
        case "ms":
            return f"{value:.0f}ms"
        case "score":
            return f"{value:.3f}"
        case _:
            return f"{value:g}{figure.unit}"
