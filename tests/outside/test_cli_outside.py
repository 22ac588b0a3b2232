"""The program with plugins from outside: used by name exactly like built-ins, and the bad ones told by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Child = Callable[..., Any]

SKILL = {
    "id": "near",
    "name": "Near",
    "version": "1.0.0",
    "description": "Answers with what it was given.",
    "tags": [],
    "inputSchema": {},
    "outputSchema": {},
    "adapterType": "acme-echo",
    "entrypoint": "acme:near",
    "metadata": {},
}
BAD = ("broken", "exits", "future", "misspelt", "rival")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def good(install: Callable[..., Path]) -> Path:
    """The plugins that work."""
    return install("scorer", "adapter", "command")


@pytest.fixture(scope="session")
def crowd(install: Callable[..., Path]) -> Path:
    """The good ones and the five bad ones."""
    return install("scorer", "adapter", "command", *BAD)


@pytest.fixture
def suite(tmp_path: Path) -> tuple[str, str]:
    """A skill for the private adapter and tasks for the private scorer."""
    (tmp_path / "skill.json").write_text(json.dumps(SKILL))
    tasks = [
        {
            "id": "named",
            "description": "names the scorer",
            "inputData": {"value": 3.05},
            "expectedOutput": {"type": "acme-tolerance", "expected": 3, "tolerance": 0.1},
            "evaluator": {"type": "acme-tolerance"},
        },
        {
            "id": "unnamed",
            "description": "leaves it open",
            "inputData": {"value": 7},
            "expectedOutput": {"expected": 8},
        },
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    return str(tmp_path / "skill.json"), str(tmp_path / "tasks.json")


def skillgauge(child: Child, site: Path, *arguments: str, **variables: str) -> Any:
    """Run the program with an installation."""
    return child(site, "-m", "skillgauge", *arguments, **variables)


def evaluation(suite: tuple[str, str], *more: str) -> list[str]:
    """The command that evaluates the suite."""
    skill, tasks = suite
    return ["eval", "--skills", skill, "--tasks", tasks, "--evaluator", "acme-tolerance", "--json", *more]


@pytest.mark.e2e
@pytest.mark.requirement("ES-SCORE-009")
def test_a_private_scorer_and_adapter_are_used_by_name(child: Child, good: Path, suite: tuple[str, str]) -> None:
    """Named in evaluator.type, by --evaluator and in adapterType, they work like built-ins."""
    done = skillgauge(child, good, *evaluation(suite))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    verdicts = {one["case_id"]: one["verdict"] for one in document["results"]}
    assert verdicts == {"named": "pass", "unnamed": "fail"}
    assert document["plan"]["provenance"]["acme-skillgauge-scorer"]
    assert document["plan"]["provenance"]["acme-skillgauge-adapter"]


@pytest.mark.e2e
def test_a_private_command_is_listed_and_runs(child: Child, good: Path) -> None:
    """--help shows it with its distribution, without importing it, and it runs by its name."""
    done = skillgauge(child, good, "--help")
    assert "acme-hello" in done.stdout
    assert skillgauge(child, good, "acme-hello").returncode == 0


@pytest.mark.e2e
def test_the_five_bad_ones_are_listed_with_reasons_and_harm_nothing(
    child: Child, crowd: Path, suite: tuple[str, str]
) -> None:
    """`doctor` says why each does not work, `list` remembers it, and a run that does not name them is not disturbed."""
    doctor = skillgauge(child, crowd, "plugins", "doctor", "--json")
    assert doctor.returncode == 2
    bad = {
        one["distribution"]: one["problem"] for one in json.loads(doctor.stdout)["plugins"] if one["healthy"] is False
    }
    for name in BAD:
        assert f"acme-skillgauge-{name}" in bad
    listed = skillgauge(child, crowd, "plugins", "list", "--json")
    problems = {one["distribution"]: one["problem"] for one in json.loads(listed.stdout)["plugins"]}
    for name in BAD:
        assert problems[f"acme-skillgauge-{name}"], name
    assert "needs skillgauge-core" in problems["acme-skillgauge-future"]
    assert "acme-skillgauge-scorer" in problems["acme-skillgauge-rival"]
    ambiguous = skillgauge(child, crowd, *evaluation(suite))
    assert ambiguous.returncode == 2
    assert "acme-skillgauge-rival" in ambiguous.stdout
    assert "acme-skillgauge-scorer" in ambiguous.stdout
    done = skillgauge(child, crowd, *evaluation(suite, "--no-plugin", "acme-skillgauge-rival"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.e2e
def test_an_extension_vetoes_a_plan(
    child: Child, install: Callable[..., Path], suite: tuple[str, str], tmp_path: Path
) -> None:
    """A plan that the policy forbids is not run: exit 2, its reason, and no store."""
    site = install("scorer", "adapter", "veto")
    done = skillgauge(child, site, *evaluation(suite), ACME_MAX_TRIALS="1")
    assert done.returncode == 2
    assert "2 trials, but ACME allows 1" in done.stdout
    assert not (tmp_path / "skillgauge.db").exists()
    assert not (tmp_path / "reports").exists()
    assert skillgauge(child, site, *evaluation(suite), ACME_MAX_TRIALS="2").returncode == 0


@pytest.mark.e2e
def test_a_single_file_is_a_plugin(child: Child, good: Path, suite: tuple[str, str], tmp_path: Path) -> None:
    """--plugin FILE.py brings a scorer without any installation; its options can be set."""
    file = tmp_path / "my_scorer.py"
    file.write_text(
        """
from skillgauge.api import Frozen, Provider, Score, hookimpl

class Options(Frozen):
    expected: float = 0
    most: float = 0

class AtMost:
    version = "1"
    def __init__(self, options):
        self.options = options
    async def score(self, context):
        return Score.passed() if context.execution.output <= self.options.most else Score.failed("too much")

@hookimpl
def skillgauge_scorers():
    yield Provider(name="my_scorer", options=Options, factory=AtMost, summary="At most so much.")
"""
    )
    skill, tasks = suite
    command = ["eval", "--skills", skill, "--tasks", tasks, "--case", "unnamed", "--evaluator", "my_scorer", "--json"]
    done = skillgauge(child, good, *command, "--plugin", str(file), "--set", "scorers.my_scorer.most=7")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["summary"]["counts"]["passed"] == 1
    done = skillgauge(child, good, *command, "--plugin", str(file))
    assert json.loads(done.stdout)["summary"]["counts"]["failed"] == 1
    absent = skillgauge(child, good, *command)
    assert absent.returncode == 2
    assert "Install the package that brings it" in absent.stdout
