"""The lints through `validate` on suites of several formats: what is the matter is told once, in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge_testkit.program import Program

SKILL = "---\nname: greet\ndescription: Greets people. Use when somebody is to be greeted.\n---\n\nSay hello.\n"
GOOD = ("Says hello.", "Names the person.", "Is short.")
Written = tuple[str, Any]


def agent_skills(rubrics: Sequence[Sequence[str]]) -> Written:
    """An evals.json of agent skills."""
    evals = [{"id": n, "prompt": f"Greet {n}.", "assertions": list(one)} for n, one in enumerate(rubrics)]
    return "evals/evals.json", {"skill_name": "greet", "evals": evals}


def benchflow(rubrics: Sequence[Sequence[str]]) -> Written:
    """An evals.json of BenchFlow."""
    cases = [{"question": f"Greet {n}.", "expected_behavior": list(one)} for n, one in enumerate(rubrics)]
    return "evals/evals.json", {"skill_name": "greet", "cases": cases}


def agentv(rubrics: Sequence[Sequence[str]]) -> Written:
    """An EVAL.yaml of agentv."""
    tests = [{"id": f"t{n}", "vars": {"input": f"Greet {n}."}, "assert": list(one)} for n, one in enumerate(rubrics)]
    return "EVAL.yaml", {"name": "greet", "prompts": ["{{ input }}"], "tests": tests}


def promptfoo(rubrics: Sequence[Sequence[str]]) -> Written:
    """A configuration of promptfoo."""
    tests = [
        {"vars": {"name": str(n)}, "assert": [{"type": "llm-rubric", "value": claim} for claim in one]}
        for n, one in enumerate(rubrics)
    ]
    providers = [{"id": "anthropic:claude-agent-sdk"}]
    return "promptfooconfig.yaml", {"prompts": ["Greet {{name}}."], "providers": providers, "tests": tests}


def skillgrade(rubrics: Sequence[Sequence[str]]) -> Written:
    """An eval.yaml of skillgrade."""
    tasks = [
        {
            "name": f"t{n}",
            "instruction": f"Greet {n}.",
            "graders": [{"type": "llm_rubric", "rubric": claim} for claim in one],
        }
        for n, one in enumerate(rubrics)
    ]
    return "eval.yaml", {"tasks": tasks}


Format = Callable[[Sequence[Sequence[str]]], Written]


def validated(program: Program, work: Path, written: Written) -> list[dict[str, Any]]:
    """Problems of a suite in a skill of its own; what this machine has not is left out."""
    file, content = written
    path = work / "greet" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    (work / "greet/SKILL.md").write_text(SKILL)
    text = json.dumps(content, indent=1) if file.endswith(".json") else yaml.safe_dump(content, sort_keys=False)
    path.write_text(text)
    problems: list[dict[str, Any]] = program("validate", work / "greet", "--json").document["problems"]
    return [problem for problem in problems if problem["code"] != "suite.kept-key"]


@pytest.mark.requirement("BF-TIPS-002", "BF-TIPS-003")
@pytest.mark.parametrize("suite", [agent_skills, benchflow, agentv, promptfoo, skillgrade])
@pytest.mark.parametrize(
    ("lint", "claim"),
    [
        ("only-with-skill", "The agent ran the skill's script."),
        ("only-with-skill", "The agent read SKILL.md."),
        ("several-claims", "Names the person; is short."),
    ],
)
def test_a_claim_is_told_once(program: Program, work: Path, suite: Format, lint: str, claim: str) -> None:
    """R3-M4: one warning at one place, whatever the format."""
    problems = validated(program, work, suite([(claim, *GOOD[1:]), GOOD, GOOD, GOOD]))
    assert [(problem["code"], problem["severity"]) for problem in problems] == [(f"lint.{lint}", "warning")]


def test_good_claims_are_left_alone_in_every_format(program: Program, work: Path) -> None:
    """Nothing is told where nothing is the matter."""
    for suite in (agent_skills, benchflow):
        assert validated(program, work, suite([GOOD] * 4)) == []


@pytest.mark.requirement("BF-TIPS-001", "BF-TIPS-002", "BF-TIPS-003", "BF-TIPS-004")
@pytest.mark.parametrize(
    ("case", "lint", "line"),
    [
        ({"question": "q", "ground_truth": " ".join("abcdefghijklm")}, "prose-as-truth", 6),
        ({"question": "Is it Paris?", "ground_truth": "Paris"}, "answer-in-prompt", 6),
        ({"question": "q", "expected_behavior": ["a"]}, "rubric-size", 4),
        ({"question": "q", "expected_behavior": list("abcdef")}, "rubric-size", 4),
        ({"question": "q", "expected_behavior": ["It read SKILL.md.", "b", "c"]}, "only-with-skill", 7),
        ({"question": "q", "expected_behavior": ["a", "b", "c; d"]}, "several-claims", 9),
    ],
)
def test_each_tip_of_benchflow(program: Program, work: Path, case: dict[str, Any], lint: str, line: int) -> None:
    """Each is found once, at the line of the item that it is about."""
    name, content = benchflow([GOOD] * 3)
    content["cases"] = [case, *content["cases"]]
    problems = validated(program, work, (name, content))
    assert [(problem["code"], problem["line"]) for problem in problems] == [(f"lint.{lint}", line)]


@pytest.mark.requirement("BF-TIPS-001")
def test_few_cases_of_benchflow(program: Program, work: Path) -> None:
    """A suite that no outcome could decide is told once."""
    problems = validated(program, work, benchflow([GOOD]))
    assert [problem["code"] for problem in problems] == ["lint.too-few-cases"]


def test_a_script_of_the_skill_is_known_by_its_name(program: Program, work: Path) -> None:
    """R3-M4: the names of what the skill brings are read from its folder; a file that all agents get tells nothing."""
    (work / "greet/scripts").mkdir(parents=True)
    (work / "greet/scripts/draft_email.py").write_text("print()\n")
    for claim in ("The agent called the draft_email script", "draft_email.py was run."):
        problems = validated(program, work, benchflow([(claim, *GOOD[1:]), GOOD, GOOD, GOOD]))
        assert [problem["code"] for problem in problems] == ["lint.only-with-skill"]
