"""The documents of the format: the lift, and the tree of results, written and read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillgauge.api import SuiteError, located_all
from skillgauge.api.report import RunView
from skillgauge_format_benchflow.jobs import JobsReporter
from skillgauge_format_benchflow.reporter import BenchflowReporter
from skillgauge_format_benchflow.views import BASELINE, WITH_SKILL, Row, view_of


def row(case: str, arm: str, reward: float | None, repeat: int = 1, agent: str = "codex", model: str = "m") -> Row:
    """A rollout of the skill `tables`."""
    error = "" if reward is not None else "no reward"
    return Row("tables", case, agent, model, arm, repeat, reward, error=error, question=f"{case}?", started_at=9.0)


RUN = (
    row("a", WITH_SKILL, 1.0),
    row("a", BASELINE, 0.25),
    row("b", WITH_SKILL, 0.5),
    row("b", BASELINE, 0.75),
    row("c", WITH_SKILL, None),
    row("c", BASELINE, 0.0),
)


def document(rows: Sequence[Row], tmp_path: Path) -> tuple[dict[str, object], Path]:
    """The lift of rollouts, and the file that it stands in."""
    (artifact,) = BenchflowReporter().render(view_of(rows, "/skills/tables"))
    path = tmp_path / "lift.json"
    path.write_bytes(b"".join(artifact.chunks))
    return json.loads(path.read_bytes()), path


def tree(rows: Sequence[Row], folder: Path) -> Path:
    """The tree of rollouts."""
    for artifact in JobsReporter().render(view_of(rows, "/skills/tables")):
        path = folder / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(artifact.chunks))
    return folder / "skill-eval"


def facts(view: RunView) -> list[tuple[object, ...]]:
    """What a run says of every rollout."""
    return sorted(
        (
            one.case_id,
            one.arm,
            one.repeat,
            one.runner,
            one.model,
            one.verdict.value,
            -1 if one.value is None else one.value,
        )
        for one in view.results()
    )


def test_lift(tmp_path: Path) -> None:
    """Above one half passes, a missing reward is an error and never 0, and lift is over the pairs that have both."""
    found, _ = document(RUN, tmp_path)
    (lift,) = found["lifts"]  # type: ignore[misc]
    assert lift == {
        "agent": "codex",
        "model": "m",
        "with_skill_score": 0.75,
        "baseline_score": pytest.approx(1 / 3, abs=1e-6),
        "lift": 0.25,
        "with_skill_passed": 1,
        "baseline_passed": 1,
        "baseline_ran": True,
        "passed_lift": 0,
        "pairs": 2,
        "unpaired": ["c"],
        "errors": {WITH_SKILL: 1, BASELINE: 0},
    }


def test_a_negative_lift_and_one_arm(tmp_path: Path) -> None:
    """Less is a negative number; without a baseline there is no lift, not the mean itself."""
    found, _ = document([row("a", WITH_SKILL, 0.0), row("a", BASELINE, 1.0)], tmp_path)
    assert [one["lift"] for one in found["lifts"]] == [-1.0]  # type: ignore[index, attr-defined]
    alone, _ = document([row("a", WITH_SKILL, 1.0)], tmp_path)
    (lift,) = alone["lifts"]  # type: ignore[misc]
    assert (lift["lift"], lift["baseline_score"], lift["baseline_ran"]) == (None, None, False)


def test_one_agent_with_two_models(tmp_path: Path) -> None:
    """The model is part of every key, so that nothing is merged."""
    rows = [row("a", arm, float(model == "n"), model=model) for model in "mn" for arm in (WITH_SKILL, BASELINE)]
    found, _ = document(rows, tmp_path)
    assert [(one["model"], one["with_skill_score"]) for one in found["lifts"]] == [("m", 0.0), ("n", 1.0)]  # type: ignore[index, attr-defined]


def test_the_document_is_read_back(tmp_path: Path) -> None:
    """Every reward of every case survives."""
    _, path = document([*RUN, row("a", WITH_SKILL, 0.9, repeat=2)], tmp_path)
    view = BenchflowReporter().read(path)
    assert view is not None
    assert facts(view) == facts(view_of([*RUN, row("a", WITH_SKILL, 0.9, repeat=2)], ""))
    (pair,) = view.summary.pairs
    assert (pair.n, pair.dropped.candidate_error) == (2, 1)


def test_the_tree_is_read_back(tmp_path: Path) -> None:
    """Lift is computed again from what is stored."""
    found = JobsReporter().read(tree(RUN, tmp_path))
    assert found is not None
    assert facts(found) == facts(view_of(RUN, ""))
    assert found.run.started_at == 9.0
    assert JobsReporter().read(tree(RUN, tmp_path) / "tables/codex") is not None


def test_the_model_is_in_the_path_of_an_agent_that_has_several(tmp_path: Path) -> None:
    """One model leaves the documented path as it is; with two of one agent nothing is merged, there and back."""
    rows = [row("a", arm, float(model == "n"), model=model) for model in "mn" for arm in (WITH_SKILL, BASELINE)]
    root = tree(rows, tmp_path)
    assert sorted(path.name for path in (root / "tables").iterdir()) == ["codex--m", "codex--n"]
    found = JobsReporter().read(root)
    assert found is not None
    assert facts(found) == facts(view_of(rows, ""))


def test_a_tree_of_benchflow_itself(tmp_path: Path) -> None:
    """Its own keys are enough; of two rollouts of a case the newer one counts, and a verifier's failure is an error."""
    arm = tmp_path / "jobs/skill-eval/tables/claude-agent-acp/with-skill"
    rollouts = {
        "2026-01-01__10-00-00/sum__0a1b2c3d": {"task_name": "sum", "rewards": {"reward": 0.0}, "error": None},
        "2026-01-02__10-00-00/sum__99999999": {"task_name": "sum", "rewards": {"score": 1.0}, "error": None},
        "2026-01-02__10-00-00/mean__12345678": {"rewards": None, "error": None, "verifier_error": "no judge"},
    }
    for name, content in rollouts.items():
        (arm / name).mkdir(parents=True)
        (arm / name / "result.json").write_text(json.dumps(content))
    view = JobsReporter().read(tmp_path / "jobs")
    assert view is not None
    assert sorted((one.case_id, one.runner, one.verdict.value, one.value) for one in view.results()) == [
        ("mean", "claude-agent-acp", "error", None),
        ("sum", "claude-agent-acp", "pass", 1.0),
    ]


def test_damaged_results(tmp_path: Path) -> None:
    """Everything that is wrong with a tree is told at once, and a folder of others is none of ours."""
    root = tree(RUN, tmp_path)
    first, second, *_ = sorted(root.glob("**/result.json"))
    first.write_text("{")
    second.write_text(json.dumps({"task_name": "a", "rewards": {"reward": 7}}))
    with pytest.raises(SuiteError) as raised:
        JobsReporter().read(root)
    problems = located_all(raised.value.problems)
    assert [(one.span.line, one.span.column) for one in problems if one.span] == [(1, 2), (1, 32)]
    assert JobsReporter().read(tmp_path / "elsewhere") is None
    (tmp_path / "elsewhere").mkdir()
    assert JobsReporter().read(tmp_path / "elsewhere") is None


def test_a_damaged_document_is_told(tmp_path: Path) -> None:
    """Half of a document is no document of somebody else."""
    _, path = document(RUN, tmp_path)
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(SuiteError):
        BenchflowReporter().read(path)
