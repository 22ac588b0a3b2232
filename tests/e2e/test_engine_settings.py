"""One engine with two settings beside each other: their rows are told apart wherever results are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

GOOD = json.dumps([{"text": "GOOD"}])
LOST = json.dumps([{"text": "lost"}])
SKILLED = json.dumps([{"text": "GOOD", "skill": "s"}, {"text": "lost"}])
CASES = 12


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill with twelve cases that want one word."""
    folder = work / "s"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: s\ndescription: Says good things.\n---\nSay GOOD.\n")
    good = {"text": "good", "type": "equals", "value": "GOOD"}
    evals = [{"id": one, "prompt": f"number {one}", "assertions": [good]} for one in range(1, CASES + 1)]
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "s", "evals": evals}))
    return folder


SETTINGS = ("--set", f"engines.mock.replies={LOST}", "--set", f"engines.mock+sharp.replies={SKILLED}")


def test_rows_of_two_settings(program: Program, skill: Path, work: Path) -> None:
    """Groups, pairs, results, board, reports and history name the setting, and each has the figures of its own."""
    done = program(
        *("eval", skill, "--engine", "mock", "--engine", "mock+sharp", *SETTINGS, "--format", "markdown", "record"),
    )
    assert done.code == 0, done.stderr
    told = "s: the lift is greatest with mock+sharp (+100.0 points)"
    assert done.verdict.startswith(f"done: {told}")
    at = done.stdout.splitlines().index(told)
    assert [line.split()[:2] for line in done.stdout.splitlines()[at + 1 : at + 3]] == [
        ["1", "mock+sharp"],
        ["2", "mock"],
    ]
    markdown = next((work / "reports").glob("eval-result-*.md")).read_text().replace("\\", "")
    assert "| 1 | mock+sharp | +100.0 points" in markdown
    record = json.loads(next((work / "reports").glob("*.record.json")).read_text())
    passed = {(one["runner"], one["arm"]) for one in record["results"] if one["verdict"] == "pass"}
    assert passed == {("mock+sharp", "with_skill")}
    history = program("history", "show", record["run"]["run_id"], "--json")
    assert {one["runner"] for one in history.document["summary"]["groups"]} == {"mock", "mock+sharp"}


@pytest.mark.slow
def test_a_setting_starts_from_the_engine_s_own(program: Program, skill: Path, work: Path) -> None:
    """What it does not set is as the engine has it; it can stand in the configuration, and be the only engine."""
    script = work / "script.json"
    script.write_text(json.dumps({"replies": [{"text": "GOOD"}]}))
    config = {"plugins": {"engines": {"mock": {"script": str(script)}, "mock+none": {"replies": [{"text": "lost"}]}}}}
    (work / "skillgauge.config.yaml").write_text(json.dumps(config))
    untrusted = program("eval", skill, "--engine", "mock+none")
    assert untrusted.code == 2
    assert "plugins.engines.mock" in untrusted.stderr
    done = program("eval", skill, "--engine", "mock+none,mock", "--trust-config", "--json")
    assert done.code == 0, done.stderr
    found = {(one["runner"], one["verdict"]) for one in done.document["results"]}
    assert found == {("mock+none", "fail"), ("mock", "pass")}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--engine", "mock+shrap"], "engines.mock+shrap sets no option"),
        (["--engine", "mok+sharp"], "engine 'mok' is not installed (did you mean mock?)"),
        (["--engine", "mock", "--set", "engines.mok+sharp.replies=[]"], "no plugin of that name is installed"),
        (["--engine", "mock+sharp", "--set", "engines.mock+sharp.speed=1"], "unknown option"),
    ],
)
def test_a_setting_that_sets_nothing(program: Program, skill: Path, words: list[str], told: str) -> None:
    """A misspelt name is refused before anything runs: it would measure the engine as it is under another name."""
    done = program("eval", skill, *words, *SETTINGS)
    assert (done.code, told in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_recordings_of_a_setting_are_played_back(program: Program, skill: Path, work: Path) -> None:
    """They carry its name, and which of two settings is meant can be said."""
    both = ("--engine", "mock,mock+sharp", *SETTINGS)
    assert program("eval", skill, *both, "--record", "tapes").code == 0
    unclear = program("eval", skill, "--replay", "tapes")
    assert (unclear.code, "mock+sharp with its own model" in unclear.stderr) == (2, True), unclear.stderr
    done = program("eval", skill, "--replay", "tapes", "--set", "engines.replay.engine=mock+sharp", "--json")
    assert done.code == 0, done.stderr
    assert {one["runner"] for one in done.document["results"]} == {"mock+sharp"}
    assert sum(one["verdict"] == "pass" for one in done.document["results"]) == CASES
