"""A comparison as a gate of agentversion."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skillgauge.api import Artifact
from skillgauge.api.report import RunState, RunView
from skillgauge_skillevaluation import Aggregate, Record, Series, records_of, rounded

from .options import AgentversionOptions

_HASH_CHARACTERS = 12
_VERSION = "0.8.0"
"""Of the specification by which the score is reckoned."""


@dataclass
class _Counted:
    series: Series
    aggregate: Aggregate = field(default_factory=Aggregate)


class AgentversionReporter:
    """The gates of a run, one for each skill, engine and model.

    Args:
        options: the threshold.
    """

    suffix = "gates.json"

    def __init__(self, options: AgentversionOptions) -> None:
        self._options = options

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The part of a manifest that holds the gates; their list is empty if the run proves nothing."""
        text = json.dumps({"evaluation": {"gates": list(self._gates(view))}}, indent=2, ensure_ascii=False)
        yield Artifact(chunks=(f"{text}\n".encode(),))

    def read(self, path: Path) -> RunView | None:
        """Nothing: a gate is no run."""
        return None

    def _gates(self, view: RunView) -> Iterable[dict[str, Any]]:
        invalid = {gate.suite_id for gate in view.summary.validity if not gate.valid}
        if view.run.state is not RunState.FINISHED:
            return
        counted: dict[tuple[object, ...], _Counted] = {}
        for record in records_of(view):
            if isinstance(record, Record) and record.series.suite.id not in invalid:
                key = (record.series.candidate, record.series.baseline)
                counted.setdefault(key, _Counted(record.series)).aggregate.add(record.unit)
        for gate in counted.values():
            score = gate.aggregate.with_rate
            if score is not None and not gate.aggregate.error_dominated:
                yield self._gate(view, gate.series, score, several=len(counted) > 1)

    def _gate(self, view: RunView, series: Series, score: float, *, several: bool) -> dict[str, Any]:
        suite, group, options = series.suite, series.candidate, self._options
        who = ":".join(part for part in (group.runner, group.model) if part)
        name = suite.parameters.get("suite_hash") or suite.content_digest[:_HASH_CHARACTERS]
        score, threshold = rounded(score, 4), options.threshold
        origin = "set by the user" if "threshold" in options.model_fields_set else "the default of skillgauge"
        ended = view.run.finished_at or view.run.started_at
        return {
            "name": f"skillevaluation:{suite.name or suite.id}{f':{who}' if several else ''}",
            "threshold": threshold,
            "threshold_direction": "min",
            "actual_score": score,
            "passed": score >= threshold,
            "ran_at": datetime.fromtimestamp(ended, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "evaluator_ref": f"skillevaluation://{name}@v{suite.parameters.get('spec_version') or _VERSION}",
            "notes": f"pass rate with the skill by {who}; the threshold is {origin}",
        }
