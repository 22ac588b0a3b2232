"""Replay bundle and attestation: what others need to grade a run again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from skillgauge.api import Artifact, TrialResult, Verdict
from skillgauge.api.report import GroupKey, PairSummary, RunView
from skillgauge_skillevaluation import Record, graded_document, metrics_of, records_of

_META = ("turns", "total_tokens", "tool_call_count", "duration_ms", "task_attempted")
OfCase = Callable[[Record], dict[str, Any]]


class AttestationReporter:
    """Two documents for each comparison."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The documents, case by case; those of a run without a comparison hold no case."""
        pairs: tuple[PairSummary | None, ...] = view.summary.pairs or (None,)
        for pair in pairs:
            folder = f"{_folder(pair.candidate)}/" if pair and len(pairs) > 1 else ""
            head: dict[str, Any] = {"runner_model": pair.candidate.model if pair else None}
            yield Artifact(chunks=_chunks(view, pair, head, bundled), path=f"{folder}replay-bundle.json")
            attested = _attested(view, pair)
            yield Artifact(chunks=_chunks(view, pair, head | attested, attested_case), path=f"{folder}attestation.json")

    def read(self, path: Path) -> RunView | None:
        """Nothing: they hold no aggregate."""
        return None


def _attested(view: RunView, pair: PairSummary | None) -> dict[str, Any]:
    """Return the content of the attestation beside the cases."""
    suite = next((one for one in view.head.suites if pair and one.id == pair.candidate.suite_id), None)
    judges = [f"{one.name}:{one.model}" if one.model else one.name for one in view.head.judges]
    facts: dict[str, Any] = {"judge_model": ", ".join(judges) or None, "runner_version": version("skillgauge-core")}
    if suite is not None and suite.runs > 1:
        facts["runs"] = suite.runs
    return facts | {"skillgauge": {"plan": view.head.plan_id, "suite": suite.content_digest if suite else None}}


def _chunks(view: RunView, pair: PairSummary | None, head: dict[str, Any], of_case: OfCase) -> Iterator[bytes]:
    before, _, after = json.dumps(head | {"cases": []}, indent=2, ensure_ascii=False).rpartition("[]")
    yield f"{before}[".encode()
    number = 0
    for record in records_of(view):
        if not isinstance(record, Record) or not record.was_set_up:
            continue
        if pair is None or (record.series.candidate, record.series.baseline) != (pair.candidate, pair.baseline):
            continue
        told = {"name": record.case.id} | ({"run": record.repeat} if record.series.suite.runs > 1 else {})
        text = json.dumps(told | of_case(record), indent=2, ensure_ascii=False).replace("\n", "\n    ")
        yield f"{',' if number else ''}\n    {text}".encode()
        number += 1
    yield f"\n  ]{after}\n".encode()


def bundled(record: Record) -> dict[str, Any]:
    """A case of the replay bundle."""
    return {
        "with_skill_output": record.ours.execution.text or "",
        "without_skill_output": record.theirs.execution.text or "",
        "with_skill_meta": _meta(record.ours),
        "without_skill_meta": _meta(record.theirs),
    }


def attested_case(record: Record) -> dict[str, Any]:
    """A case of the attestation."""
    return {"with_skill": _arm(record.ours), "without_skill": _arm(record.theirs)}


def _arm(result: TrialResult) -> dict[str, Any]:
    told = {"output": result.execution.text or "", "passed": result.verdict is Verdict.PASS, "meta": _meta(result)}
    return told | graded_document(result)


def _meta(result: TrialResult) -> dict[str, Any]:
    measures = asdict(metrics_of(result))
    return {name: measures[name] for name in _META}


def _folder(group: GroupKey) -> str:
    parts = (group.suite_id, group.target_id, group.runner, group.model)
    return ".".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip(".-") or "x" for part in parts if part)
