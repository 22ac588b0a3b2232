"""`validate --format sarif`: one document that code hosts read, of good and of bad suites."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from skillgauge_testkit.program import Done, Program

RESULT = {"ruleId", "ruleIndex", "level", "message", "locations"}


def only_run(done: Done) -> dict[str, Any]:
    """The one run of the document, whose every result is what the standard asks for."""
    document = json.loads(done.stdout)
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert set(result) <= RESULT
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
    return dict(run)


@pytest.fixture
def make(work: Path) -> Callable[..., Path]:
    """A skill with one assertion that cannot fail, in a folder whose name an address has to escape."""

    def make(**case: object) -> Path:
        folder = work / "my skills" / "greet"
        (folder / "evals").mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: greet\ndescription: Greets. Use when asked to.\n---\nHello.\n")
        cases = [{"id": number, "prompt": f"Greet {number}.", "assertions": ["It greets."]} for number in (1, 2, 3)]
        told = ",\n".join(json.dumps(one) for one in [*cases, {"id": 4, **case}])
        (folder / "evals/evals.json").write_text(f'{{"skill_name": "greet", "evals": [\n{told}\n]}}\n')
        return folder

    return make


def test_a_warning_is_a_result_with_rule_and_place(program: Program, work: Path, make: Callable[..., Path]) -> None:
    """Relative to the current folder, with line and column; rules without a result are there, too."""
    granted = {"text": "ok", "type": "command", "value": "test -f a || true"}
    done = program("validate", make(prompt="Greet.", assertions=[granted]), "--format", "sarif")
    assert done.code == 0
    run = only_run(done)
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {"lint.cannot-fail", "lint.skill-link"} <= set(rules)
    assert rules["lint.cannot-fail"]["defaultConfiguration"] == {"level": "warning"}
    (result,) = [one for one in run["results"] if one["ruleId"] == "lint.cannot-fail"]
    (location,) = result["locations"]
    place = location["physicalLocation"]
    assert " " not in place["artifactLocation"]["uri"]
    file = work / unquote(place["artifactLocation"]["uri"])
    line = file.read_text().splitlines()[place["region"]["startLine"] - 1]
    assert line[place["region"]["startColumn"] - 1 :].startswith(json.dumps(granted))


def test_a_bad_suite_is_a_result_and_still_exit_code_2(program: Program, make: Callable[..., Path]) -> None:
    """What cannot be read is told in the document, too."""
    done = program("validate", make(assertions=["It greets."]), "--format", "sarif")
    assert done.code == 2
    (result,) = only_run(done)["results"]
    assert (result["ruleId"], result["level"]) == ("suite.missing-key", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 5


def test_a_level_is_that_of_the_user(program: Program, make: Callable[..., Path]) -> None:
    """Raised by the configuration of the folder, and put back by the command line."""
    folder = make(prompt="Greet.", assertions=[{"text": "ok", "type": "regex", "value": ".*"}])
    (folder.parents[1] / "skillgauge.config.yaml").write_text("lints: [cannot-fail=error]\n")
    raised = program("validate", folder, "--format", "sarif")
    assert raised.code == 2
    assert "error" in {one["level"] for one in only_run(raised)["results"]}
    done = program("validate", folder, "--format", "sarif", "--lint", "cannot-fail=warning")
    assert done.code == 0
    assert "error" not in {one["level"] for one in only_run(done)["results"]}


def test_two_documents_are_refused(program: Program, make: Callable[..., Path]) -> None:
    """Both --json and SARIF would be all of stdout."""
    done = program("validate", make(prompt="Greet.", assertions=["x"]), "--format", "sarif", "--json")
    assert done.code == 2


@pytest.mark.parametrize("word", ["cannot-fial=off", "cannot-fail", "cannot-fail=loud"])
def test_a_switch_that_switches_nothing_is_refused(program: Program, make: Callable[..., Path], word: str) -> None:
    """With what is near, or the levels."""
    done = program("validate", make(prompt="Greet.", assertions=["x"]), "--lint", word)
    assert done.code == 2
    assert "cannot-fail" in done.stderr


def test_nothing_of_a_suite_becomes_a_link(program: Program, make: Callable[..., Path]) -> None:
    """Code hosts show `[words](address)` in a message as a link, unless its brackets are escaped."""
    bad = {"text": "ok", "type": "[fix](https://evil.example)", "value": "x"}
    done = program("validate", make(prompt="Greet.", assertions=[bad]), "--format", "sarif")
    told = [one["message"]["text"] for one in only_run(done)["results"]]
    assert [one for one in told if "evil.example" in one]
    assert not [one for one in told if "evil.example" in one and "\\[fix\\](" not in one]
