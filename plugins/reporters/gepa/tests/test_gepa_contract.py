"""The contract of reporters, and that GEPA itself takes what is exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gepa
import pytest
from gepa.core.adapter import EvaluationBatch

from skillgauge.api import Score
from skillgauge.api.report import RunView
from skillgauge_testkit import REPORTERS, Maker, check_light_import, check_plugin, check_reporter, contract_views

MODULE = "skillgauge_reporter_gepa.plugin"


def test_reporter() -> None:
    """Runs of every sort can be exported; traces are not read back."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_announcement() -> None:
    """Hooks, providers and entry points fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)


def _scores(view: RunView) -> Iterator[Score]:
    return (score for result in view.results() for score in result.scores)


def export(folder: Path) -> dict[str, Any]:
    """A reflective dataset as a user finds it on disk."""
    views = (view for _, view in contract_views() if len(view.head.suites) == 1)
    view = next(view for view in views if any("got 5" in score.reason for score in _scores(view)))
    for artifact in Maker(REPORTERS, MODULE)().render(view):
        path = folder / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(artifact.chunks))
    found: dict[str, Any] = json.loads((folder / "reflective_dataset.json").read_text())
    return found


class Recorded(gepa.GEPAAdapter):  # type: ignore[misc]
    """Scores a candidate by a word in it, and reflects on what was recorded."""

    def __init__(self, records: dict[str, list[dict[str, Any]]]) -> None:
        self.records = records
        self.reflected: list[dict[str, Any]] = []

    def evaluate(self, batch: list[Any], candidate: dict[str, str], capture_traces: bool = False) -> Any:
        """One score for each example."""
        scores = [float("better" in candidate["skill_md"]) for _ in batch]
        return EvaluationBatch(outputs=batch, scores=scores, trajectories=batch if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> Any:
        """The recorded sessions."""
        made = {component: self.records[component] for component in components_to_update}
        self.reflected += made["skill_md"]
        return made


@pytest.mark.requirement("BF-GEPA-002")
def test_gepa_optimizes_with_it(tmp_path: Path) -> None:
    """A whole optimization with a model that always says the same takes the export as it is."""
    dataset = export(tmp_path)
    assert dataset["trainset"]
    assert dataset["reflective_dataset"]["skill_md"]
    adapter = Recorded(dataset["reflective_dataset"])
    prompts: list[str] = []

    def model(prompt: Any) -> str:
        prompts.append(str(prompt))
        return "```\nA better skill.\n```"

    result = gepa.optimize(
        seed_candidate=dataset["seed_candidate"],
        trainset=dataset["trainset"],
        adapter=adapter,
        reflection_lm=model,
        max_metric_calls=4 * len(dataset["trainset"]),
        run_dir=None,
        display_progress_bar=False,
    )
    assert result.best_candidate["skill_md"] == "A better skill."
    record = dataset["reflective_dataset"]["skill_md"][0]
    assert record in adapter.reflected
    assert record["Feedback"].splitlines()[0] in prompts[0]


def test_feedback_names_what_was_wrong(tmp_path: Path) -> None:
    """Whoever improves a skill reads which checks failed and why."""
    records = export(tmp_path)["reflective_dataset"]["skill_md"]
    wrong = [record for record in records if "Not met" in record["Feedback"]]
    assert wrong
    assert all(set(record) == {"Inputs", "Generated Outputs", "Feedback"} for record in records)
    assert any("expected 4, got 5" in record["Feedback"] for record in wrong)
