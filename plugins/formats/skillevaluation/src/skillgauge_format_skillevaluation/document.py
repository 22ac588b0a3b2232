"""results.json of one skill with one engine and one model."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from skillgauge.api.report import RunView
from skillgauge_skillevaluation import Aggregate, Series

STAMP = "skillevaluation/test-run-result@v1"
RUNNER = "skillgauge"


def run_document(
    view: RunView, series: Series, aggregate: Aggregate, *, hits: int, skipped: int, made_up: bool
) -> dict[str, Any]:
    """All of a document but its cases.

    Args:
        view: the run.
        series: what the document is about.
        aggregate: of its records.
        hits: arms without the skill that were answered from an earlier run.
        skipped: cases that only say whether the skill should fire.
        made_up: whether times, turns, tokens and calls are no measures.
    """
    suite, group = series.suite, series.candidate
    document: dict[str, Any] = {**aggregate.document(), "verdict": aggregate.verdict.value}
    if suite.runs > 1:
        document["runs"] = suite.runs
    validity = next((one for one in view.summary.validity if one.suite_id == suite.id), None)
    return document | {
        "format": STAMP,
        "skill": {"name": suite.name or suite.id},
        "runner": {
            "name": RUNNER,
            "version": version("skillgauge-core"),
            "adapter": group.runner,
            "adapter_identity": _identity(view, series),
            "judge": ", ".join(judge_name(one.name, one.model) for one in view.head.judges) or None,
        },
        "started_at": moment(view.run.started_at),
        "completed_at": moment(view.run.finished_at),
        "cache_hits": hits,
        "cases_skipped_trigger_only": skipped,
        "skillgauge": {
            "suite": suite.id,
            "model": group.model,
            "state": view.run.state,
            "valid": validity.valid if validity else None,
            "reason": validity.reason if validity else "",
            "made_up": made_up,
            **{key: value for key, value in suite.parameters.items() if key in ("suite_hash", "spec_version")},
        },
    }


def _identity(view: RunView, series: Series) -> str:
    name, model = series.candidate.runner, series.candidate.model
    identity = next((one for one in view.head.runners if one.name == name and one.model in (model, None)), None)
    parts = (name, model, identity.version if identity else None, identity.digest[:12] if identity else None)
    return ":".join(part for part in parts if part)


def judge_name(name: str, model: str | None) -> str:
    """A judge with its model."""
    return f"{name}:{model}" if model else name


def moment(seconds: float | None) -> str | None:
    """A time as the format writes it."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
