"""Sentences that a comment of YAML cuts off, in each format that is written in YAML: R3-W-13."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Program

pytestmark = pytest.mark.e2e

SKILL = "---\nname: fold\ndescription: Folds boats. Use when a boat is wanted.\n---\n\nFold.\n"
CLAIM = "Mentions issue #42 in the body"
AGENT_SKILLS = f"""skill_name: fold
evals:
  - id: 1
    prompt: Fold a boat.
    assertions:
      - {CLAIM}
"""
SKILLEVALUATION = f"""cases:
  - name: boat
    prompt: Fold a boat.
    expectations:
      - {CLAIM}
"""
SKILLGRADE = f"""tasks:
  - name: boat
    instruction: Fold a boat.
    graders:
      - type: llm_rubric
        rubric: {CLAIM}
"""
AGENTV = f"""name: fold
prompts: ["{{{{ input }}}}"]
tests:
  - id: boat
    vars: {{input: Fold a boat.}}
    assert:
      - {CLAIM}
"""
PROMPTFOO = f"""prompts: [Fold a boat.]
providers: [{{id: "anthropic:claude-agent-sdk"}}]
tests:
  - assert:
      - type: llm-rubric
        value: {CLAIM}
"""
WAZA = "name: fold-eval\nskill: fold\nversion: '1'\nconfig: {executor: mock}\ntasks:\n  - tasks/*.yaml\n"
WAZA_TASK = f"""id: boat
name: Boat
inputs: {{prompt: Fold a boat.}}
graders:
  - type: prompt
    name: judged
    config:
      prompt: {CLAIM}
"""
UAAPS = f"""name: boat
target: skill:fold
input: {{prompt: Fold a boat.}}
judge:
  criteria: {CLAIM}
"""
UAAPS_PACKAGE = {
    "package.agent.json": json.dumps({"name": "folding", "version": "1.0.0"}),
    "skills/fold/SKILL.md": SKILL,
    "evals/eval-config.json": json.dumps({"version": 1, "engine": "mock", "judge": "m"}),
}
SUITES: dict[str, tuple[str, dict[str, str]]] = {
    "agent-skills": ("evals/eval.yaml", {"evals/eval.yaml": AGENT_SKILLS}),
    "skillevaluation": ("eval.yaml", {"eval.yaml": SKILLEVALUATION}),
    "skillgrade": ("eval.yaml", {"eval.yaml": SKILLGRADE}),
    "agentv": ("EVAL.yaml", {"EVAL.yaml": AGENTV}),
    "promptfoo": ("promptfooconfig.yaml", {"promptfooconfig.yaml": PROMPTFOO}),
    "waza": ("evals/tasks/a.yaml", {"evals/eval.yaml": WAZA, "evals/tasks/a.yaml": WAZA_TASK}),
    "uaaps": ("evals/cases/a.yaml", {"evals/cases/a.yaml": UAAPS, **UAAPS_PACKAGE}),
}


def put(folder: Path, files: dict[str, str]) -> Path:
    """A skill with these files."""
    for name, text in {"SKILL.md": SKILL, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def cuts(program: Program, *words: object) -> list[dict[str, Any]]:
    """Warnings about texts that are cut off."""
    done = program(*words, "--json")
    problems: list[dict[str, Any]] = done.document["problems"]
    assert done.code == 0, problems
    return [problem for problem in problems if problem["code"] == "suite.cut-text"]


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize("command", [("validate",), ("eval", "--dry-run", "--engine", "mock", "--judge", "mock")])
def test_a_claim_that_a_comment_cuts_off_is_told(
    program: Program, work: Path, name: str, command: tuple[str, ...]
) -> None:
    """It is told at its `#`, before anything runs, in whichever file it stands; in quotes it is whole."""
    file, files = SUITES[name]
    root = put(work / "fold", files)
    (warning,) = cuts(program, *command, root)
    lines = files[file].splitlines()
    row = next(number for number, line in enumerate(lines, 1) if CLAIM in line)
    assert (Path(warning["file"]).name, warning["line"]) == (Path(file).name, row)
    assert lines[row - 1][warning["column"] - 1 :] == "#42 in the body"
    assert "'Mentions issue'" in warning["message"]
    assert "quotes" in warning["hint"]
    put(root, {file: files[file].replace(CLAIM, f'"{CLAIM}"')})
    assert cuts(program, *command, root) == []


@pytest.mark.slow
def test_prompts_are_texts_too_and_what_is_about_no_case_is_not_looked_at(program: Program, work: Path) -> None:
    """The words of a case count wherever they stand in it; the warning can be switched off as any other."""
    text = AGENT_SKILLS.replace(CLAIM, "Is a boat").replace("Fold a boat.", "Fold boat #7")
    root = put(work / "fold", {"evals/eval.yaml": f"description: Of issue #3 and others\n{text}"})
    (warning,) = cuts(program, "validate", root)
    assert (warning["line"], warning["column"]) == (5, 23)
    assert cuts(program, "validate", root, "--lint", "suite.cut-text=off") == []
