"""One file, one format: what several formats call by the same name is told apart by what is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillgauge_testkit.program import Program

NAMED = {"name": "a", "prompt": "p"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "document",
    [
        {"cases": [NAMED | {"should_trigger": True}]},
        {"cases": [NAMED | {"expectations": ["It is."]}]},
        {"cases": [{"prompt": "p", "should_trigger": True}]},
        {"cases": [{"prompt": "p", "expectations": ["It is."]}]},
        {"cases": [{"prompt": "p", "expectations": ["It is."], "validators": [{"cmd": "true"}]}]},
        {"cases": [NAMED | {"id": 1, "assertions": ["It is."]}]},
        {"cases": [NAMED | {"id": 1, "should_trigger": True}]},
        {"cases": [NAMED], "should_trigger": ["q"], "should_not_trigger": []},
        {"skill_name": "a", "cases": [NAMED | {"should_trigger": False}]},
        {"evals": [{"id": 1, "prompt": "p", "expectations": ["It is."]}]},
        {"name": "n", "skill": "a", "config": {}, "tasks": ["tasks/*.yaml"]},
        {"name": "n", "skill": "a", "config": {}, "tasks": [NAMED | {"id": "b"}]},
        {"skill": "a", "config": {}, "tasks": [{"name": "n", "instruction": "i", "graders": []}]},
        {"skill": "a", "config": {}, "tasks_from": "rows.csv", "cases": []},
    ],
    ids=json.dumps,
)
def test_one_format_claims_an_eval_yaml(program: Program, document: dict[str, Any]) -> None:
    """Neither two nor none of the formats takes it; what is wrong in it, its own format says."""
    folder = program.work / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: a\ndescription: A skill.\n---\n\nAnswer.\n")
    (folder / "eval.yaml").write_text(json.dumps(document))
    for path in (folder, folder / "eval.yaml"):
        done = program("validate", path)
        assert "usage." not in done.stdout + done.stderr, done
        assert "eval.yaml" in done.stdout + done.stderr or done.code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["promptfooconfig.yaml", "promptfooconfig.json"])
def test_promptfoo_alone_claims_its_configuration(program: Program, name: str) -> None:
    """In the folder of a skill, too."""
    folder = program.work / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: a\ndescription: A skill.\n---\n\nAnswer.\n")
    tests = [{"vars": {"q": "x"}, "assert": [{"type": "contains", "value": "x"}]}]
    (folder / name).write_text(json.dumps({"prompts": ["Say {{q}}."], "providers": ["openai:codex"], "tests": tests}))
    for path in (folder, folder / name):
        done = program("eval", path, "--engine", "mock", "--json")
        assert done.code == 0, done
        assert [one["format"] for one in done.document["plan"]["suites"]] == ["promptfoo"]
