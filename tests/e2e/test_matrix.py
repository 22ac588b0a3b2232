"""Several models in one run: the model is in every key, and the engines stand beside each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Scripted, letters

pytestmark = pytest.mark.e2e


@pytest.fixture
def models(scripted: Scripted) -> Scripted:
    """Twelve cases, which the model `large` passes only with the skill, and `small` never."""
    scripted.write(cases=12)
    cases = "abcdefghijkl"
    numbers = [str(one) for one in range(1, len(cases) + 1)]
    failing = dict.fromkeys(numbers, "f")
    scripted.script(failing, failing, large=dict.fromkeys(numbers, "p"))
    return scripted


@pytest.mark.slow
@pytest.mark.requirement("BF-RUN-003", "BF-RUN-007")
def test_models_of_one_engine(models: Scripted, work: Path) -> None:
    """Groups, pairs and results are kept apart by model, and the last line says with which the skill helps most."""
    command = ("eval", "s", "--engine", "scripted", "--model", "small,large", "--format", "markdown", "html")
    done = models.run(*command)
    told = "s: the lift is greatest with large (+100.0 points)"
    assert done.verdict.startswith(f"done: {told}; with_skill: 12 of 24 passed")
    lines = done.stdout.splitlines()
    at = lines.index(told)
    assert [line.split()[:2] for line in lines[at + 1 : at + 3]] == [["1", "large"], ["2", "small"]]
    assert lines[at + 3] == "s: the pass rate of with_skill is highest with large (100.0%)"
    assert "behind the first: -100.0 points (-100.0 to " in lines[at + 5]
    markdown = next((work / "reports").glob("eval-result-*.md")).read_text()
    assert f"**{told}**" in markdown.replace("\\", "")
    assert "| 1 | large | +100.0 points" in markdown.replace("\\", "")
    assert "| 1 | large | 100.0%" in markdown.replace("\\", "")
    page = next((work / "reports").glob("eval-result-*.html")).read_text()
    assert told in page
    assert "s: the pass rate of with_skill is highest with large (100.0%)" in page
    document = json.loads(models.run(*command[:6], "--json").stdout)
    assert {one["model"] for one in document["summary"]["groups"]} == {"small", "large"}
    ranked = {ranking["by"]: [rank["model"] for rank in ranking["ranks"]] for ranking in document["rankings"]}
    assert ranked == {"lift": ["large", "small"], "pass_rate": ["large", "small"]}
    (pair,) = document["summary"]["engines"]
    assert pair["passed_n"] == 12
    assert pair["passed_interval"]["upper"] * pair["passed_interval"]["lower"] > 0
    assert [(one["candidate"]["model"], one["evidence"]["estimate"]) for one in document["summary"]["pairs"]] == [
        ("large", 1.0),
        ("small", 0.0),
    ]
    assert {(one["model"], one["verdict"]) for one in document["results"] if one["arm"] == "with_skill"} == {
        ("small", "fail"),
        ("large", "pass"),
    }


@pytest.mark.parametrize(
    ("asked", "names"), [("small,large", {"scripted-large", "scripted-small"}), ("large", {"scripted"})]
)
def test_names_of_traces(models: Scripted, work: Path, asked: str, names: set[str]) -> None:
    """The agent alone, as documented, and the model with it where it has several: no trace replaces another one."""
    models.run("eval", "s", "--engine", "scripted", "--model", asked, "--format", "gepa")
    found = [path.stem for path in (work / "reports").glob("*/gepa/traces/*.json")]
    assert len(found) == 24 * len(names)
    assert {one.partition("-")[2].rpartition("-")[0] for one in found} == names


@pytest.mark.slow
def test_a_model_named_twice_runs_once(scripted: Scripted) -> None:
    """Also where the engine is named twice."""
    for words in (("--model", "m,m"), ("--engine", "scripted", "--model", "m")):
        scripted.evaluate(letters("p"), letters("f"), *words)
        assert len(scripted.sessions()) == 8
