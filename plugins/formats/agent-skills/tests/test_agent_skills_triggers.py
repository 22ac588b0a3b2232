"""Trigger sets in the shapes that people publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Case
from skillgauge_format_agent_skills.recognition.claiming import claim
from skillgauge_format_agent_skills.recognition.shapes import Shape, shape_of

from .conftest import Load, Write

Faults = Callable[..., list[tuple[str, int | None, str]]]
YES, NO = "Make a table of this.", "What time is it?"
SHAPES: dict[str, Any] = {
    "list of queries": [{"query": YES, "should_trigger": True}, {"query": NO, "should_trigger": False}],
    "two lists of prompts": {
        "skill": "tables",
        "should_trigger_prompts": [{"prompt": YES, "reason": "asks for one", "confidence": "high"}],
        "should_not_trigger_prompts": [{"prompt": NO}],
    },
    "two lists of texts": {"skill_name": "tables", "should_trigger": [YES], "should_not_trigger": [NO]},
    "object with queries": {
        "skill_name": "tables",
        "queries": [{"query": YES, "should_trigger": True}, {"query": NO, "should_trigger": False}],
    },
    "inputs with a word": {
        "skill": "tables",
        "cases": [{"input": YES, "expected": "trigger"}, {"input": NO, "expected": "no_trigger"}],
    },
    "description under test": {
        "description_under_test": "Convert tables.",
        "cases": [{"prompt": YES, "expected_trigger": True}, {"prompt": NO, "expected_trigger": False}],
    },
    "boundary cases": {
        "trigger_cases": [{"id": "a", "prompt": YES, "expect": "use"}],
        "boundary_cases": [{"id": "b", "prompt": NO, "expect": "no-use", "note": "a near miss"}],
    },
    "train and validation": {
        "train": [{"query": YES, "should_trigger": True}],
        "validation": [{"query": NO, "should_trigger": False}],
    },
}


def asked(cases: list[Case]) -> list[tuple[str | None, object]]:
    """Each query with what has to happen."""
    return [(case.prompt, case.checks[0].options["should_trigger"]) for case in cases]


def test_a_query_without_an_id_is_named_by_its_words(skill: Callable[..., Path], write: Write, load: Load) -> None:
    """Its place alone would tell nobody which one it is; an id of the author's is left to tell."""
    skill()
    long = f"Make a table\n  of {'this ' * 20}"
    queries = [{"query": long, "should_trigger": True}, {"id": "b", "query": NO, "should_trigger": False}]
    (suite,) = load(write("tables/evals/trigger_queries.json", queries)).suites
    first, second = suite.cases
    assert (first.id, len(first.name)) == ("1", 60)
    assert first.name.startswith("Make a table of this this")
    assert first.name.endswith("…")
    assert (second.id, second.name) == ("b", "")


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_read(name: str, skill: Callable[..., Path], write: Write, load: Load) -> None:
    """A set says the same in all of them, and is found by what stands in it."""
    root = skill()
    file = write("tables/evals/firing.json", SHAPES[name])
    assert shape_of(SHAPES[name]) is Shape.TRIGGERS
    assert claim(root, lambda _: False) is not None
    (suite,) = load(file).suites
    assert suite.dialect == "triggers"
    assert asked(list(suite.cases)) == [(YES, True), (NO, False)]
    assert [case.checks[0].options["skill"] for case in suite.cases] == ["tables", "tables"]
    assert [case.tags[0] for case in suite.cases] == ["should_trigger", "should_not_trigger"]
    assert not [one for one in suite.warnings if one.code == "suite.unknown-key"]


@pytest.mark.parametrize(
    "value",
    [
        [{"input": "3 stars", "expected": "no"}, {"input": "5 stars", "expected": "yes"}],
        [{"text": "a", "trigger": "on push"}],
        {"tests": [{"input": "a", "expected": "b"}]},
        {"train": [{"input": "a", "label": "use"}]},
        {"positive": 3, "negative": 4},
        {"positive": ["good"]},
        {"cases": []},
    ],
)
def test_other_data_is_no_trigger_set(value: Any) -> None:
    """Data sets and settings with such words are none."""
    assert shape_of(value) is not Shape.TRIGGERS


def test_what_belongs_to_a_query_is_kept(skill: Callable[..., Path], write: Write, load: Load) -> None:
    """Owner, threshold, split and reason of a query have an effect, and are written again."""
    skill()
    query = {
        "query": NO,
        "should_trigger": False,
        "owner": "clock",
        "threshold": 0.3,
        "split": "held_out",
        "reason": "the clock's",
    }
    file = write("tables/evals/firing.json", [query, {"query": YES, "should_trigger": True}])
    (suite,) = load(file).suites
    case, other = suite.cases
    assert case.checks[0].options == {"skill": "tables", "should_trigger": False, "owner": "clock", "threshold": 0.3}
    assert case.tags == ("should_not_trigger", "held_out", "held_out: should_not_trigger")
    assert case.description == "the clock's"
    assert other.checks[0].options == {"skill": "tables", "should_trigger": True}
    assert not suite.warnings


@pytest.mark.parametrize(("name", "split"), [("train_queries", "train"), ("validation-queries", "validation")])
def test_the_split_of_a_file(name: str, split: str, skill: Callable[..., Path], write: Write, load: Load) -> None:
    """Files named after a part of a set keep it apart."""
    skill()
    (suite,) = load(write(f"tables/evals/{name}.json", SHAPES["list of queries"])).suites
    assert {case.tags[1] for case in suite.cases} == {split}


def test_wrong_queries_are_placed(skill: Callable[..., Path], write: Write, faults: Faults) -> None:
    """All that is wrong is told at its own line, under the key that the file has."""
    skill()
    good = {"input": YES, "expected": "trigger"}
    wrong = [{"input": NO, "expected": "perhaps"}, {"input": "", "expected": "trigger"}, 7]
    content = json.dumps({"skill": "tables", "cases": [good] * 5 + wrong}, indent=1)
    lines = content.splitlines()
    found = faults(write("tables/evals/firing.json", content))
    assert [(code, line) for code, line, _ in found] == [
        ("suite.value", next(at for at, text in enumerate(lines, 1) if "perhaps" in text)),
        ("suite.value", next(at for at, text in enumerate(lines, 1) if '"input": ""' in text)),
        ("suite.wrong-type", next(at for at, text in enumerate(lines, 1) if text.strip() == "7")),
    ]
