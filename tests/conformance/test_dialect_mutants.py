"""Suites that are spoiled a little, by number: each is loaded otherwise, told, or refused with a place."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillgauge.api import Problem, SkillgaugeError, SuiteFormat, located_all
from skillgauge.plan.discovery import Found, discover, load
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.registry import Registry

SKILL = "---\nname: tables\ndescription: Convert tables. Use when there is a table.\n---\n\nConvert it.\n"
EVALS = {
    "skill_name": "tables",
    "evals": [
        {
            "id": 1,
            "prompt": "Make a.csv a table.",
            "expected_output": "A table.",
            "files": ["evals/a.csv"],
            "assertions": [
                "It has a head.",
                {"text": "It says so", "type": "contains", "value": "done"},
                {"name": "made", "type": "file_created", "path": "a.md"},
                {"text": "It runs", "type": "command", "command": "test -f a.md"},
            ],
            "must_have": ["Name"],
            "threshold": 0.5,
        },
        {
            "id": 2,
            "question": "What is b?",
            "expected_behavior": ["It says b.", "It is short."],
            "should_trigger": True,
        },
        {"id": 3, "prompt": "c", "expectations": ["It is c."], "weight": 2, "category": "c", "notes": "n"},
    ],
}
TRIGGERS = [
    {"query": "Make a table.", "should_trigger": True},
    {"query": "Make a cake.", "should_trigger": False},
    {"id": "x", "query": "Make two tables.", "should_trigger": True},
]
EVAL_YAML = {
    "cases": [
        {"name": "one", "prompt": "Make a table.", "expectations": ["It is one."], "max_turns": 3},
        {"name": "two", "prompt": "Again.", "validators": [{"cmd": "test -f a.md", "expect_exit_code": 0}]},
    ]
}
ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", " ", "x", [], {}, [1], ["x", 2], {"a": 1}, [[]], 10**30)


def places(value: Any, pointer: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Pointers of all values below a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*pointer, key)
        yield from places(inner, (*pointer, key))


def parent_of(document: Any, pointer: tuple[Any, ...]) -> Any:
    """What holds the value of a pointer."""
    for step in pointer[:-1]:
        document = document[step]
    return document


def replaced(random_: random.Random, document: Any) -> Any:
    """Something else where a value was."""
    pointer = random_.choice(list(places(document)))
    parent_of(document, pointer)[pointer[-1]] = random_.choice(ODD)
    return document


def misspelt(random_: random.Random, document: Any) -> Any:
    """A key with two letters swapped, or one left out."""
    pointer = random_.choice([one for one in places(document) if isinstance(one[-1], str)])
    holder, key = parent_of(document, pointer), pointer[-1]
    at = random_.randrange(max(1, len(key) - 1))
    other = random_.choice([key[:at] + key[at + 1 :], key[:at] + key[at : at + 2][::-1] + key[at + 2 :], f"{key}s"])
    renamed = {other if name == key else name: value for name, value in holder.items()}
    holder.clear()
    holder.update(renamed)
    return document


def removed(random_: random.Random, document: Any) -> Any:
    """A value less."""
    pointer = random_.choice(list(places(document)))
    del parent_of(document, pointer)[pointer[-1]]
    return document


def wrapped(random_: random.Random, document: Any) -> Any:
    """A list or an object around a value."""
    pointer = random_.choice(list(places(document)))
    holder = parent_of(document, pointer)
    holder[pointer[-1]] = random_.choice([[holder[pointer[-1]]], {"value": holder[pointer[-1]]}])
    return document


def around(random_: random.Random, document: Any) -> Any:
    """Something around the whole."""
    return random_.choice([[document], {"suite": document}, {"evals": document}, [document, 1], None, "text", 7])


def added(random_: random.Random, document: Any) -> Any:
    """A key that nobody knows."""
    holders = [one for one in ((), *places(document)) if isinstance(_at(document, one), dict)]
    holder = _at(document, random_.choice(holders)) if holders else document[0]
    holder[random_.choice(["extra", "asertions", "Prompt", "type", "retries"])] = random_.choice(ODD)
    return document


def _at(document: Any, pointer: tuple[Any, ...]) -> Any:
    for step in pointer:
        document = document[step]
    return document


def spoiled(random_: random.Random, text: str) -> str:
    """A text that is no document any more, or one that is read with care."""
    at = random_.randrange(len(text))
    return random_.choice(
        [
            text[:at],
            text[:at] + random_.choice('{}[]",:\0\ufeff') + text[at:],
            text.replace('"id"', '"id": 1, "id"', 1).replace("name: one", "name: one\n  name: one", 1),
            text + text,
            "[" * 2000 + text,
            text.replace("true", "NaN", 1)
            .replace("prompt: Again.", "prompt: *no", 1)
            .replace('"id": 1', '"id": 1e999'),
        ]
    )


MUTATIONS: tuple[Callable[[random.Random, Any], Any], ...] = (
    replaced,
    replaced,
    misspelt,
    misspelt,
    removed,
    wrapped,
    around,
    added,
)
KINDS: dict[str, tuple[str, Any, int]] = {
    "evals": ("evals/evals.json", EVALS, 300),
    "triggers": ("evals/trigger-eval.json", TRIGGERS, 100),
    "eval.yaml": ("eval.yaml", EVAL_YAML, 100),
}


@pytest.fixture(scope="module")
def formats() -> dict[str, SuiteFormat]:
    """Every installed format."""
    found: dict[str, SuiteFormat] = {}
    registry = Registry(read_index())
    for entry in entry_points(group="skillgauge.formats"):
        for provider in entry.load().skillgauge_formats():
            found[provider.name] = provider.make(provider.options(), registry.peers_of(provider))
    return found


def skill_of(folder: Path, name: str, text: str | None) -> Path:
    """A skill with good evals, beside a file that may be spoiled; `None` leaves that out."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "evals").mkdir()
    (folder / "evals/a.csv").write_text("1")
    (folder / "evals/evals.json").write_text(json.dumps(EVALS))
    if text is not None:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def outcome(folder: Path, formats: dict[str, SuiteFormat]) -> tuple[list[Any], list[Problem]]:
    """What is run and told of a folder, and all that is wrong."""
    found: dict[str, Found] = {}
    try:
        discover([folder], formats, found)
        suites, problems = load(found, formats, cwd=folder, options={}, installed={})
    except SkillgaugeError as error:
        return [], list(error.problems)
    said = [[warning.message for warning in suite.warnings] for suite in suites]
    cases = [
        [case.model_dump(exclude={"origin": True, "checks": {"__all__": {"origin"}}}) for case in suite.cases]
        for suite in suites
    ]
    return [said, cases, [suite.dialect for suite in suites]], list(problems)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_no_mutant_is_passed_over(kind: str, formats: dict[str, SuiteFormat], tmp_path: Path) -> None:
    """300 mutants of evals, and 100 of trigger sets and of eval.yaml: no exception, no silence, places on all."""
    name, document, count = KINDS[kind]
    write = yaml.safe_dump if kind == "eval.yaml" else (lambda one: json.dumps(one, indent=1))
    good, _ = outcome(skill_of(tmp_path / "tables", name, write(document)), formats)
    assert good
    assert outcome(skill_of(tmp_path / "tables", name, write(document)), formats)[0] == good
    silent, placeless = [], []
    for number in range(count):
        random_ = random.Random(f"{kind} {number}")
        if number % 8 == 7:
            text = spoiled(random_, write(document))
        else:
            text = write(random_.choice(MUTATIONS)(random_, json.loads(json.dumps(document))))
        folder = skill_of(tmp_path / "tables", name, text)
        result, problems = outcome(folder, formats)
        placeless += [(number, one.code) for one in located_all(problems) if not (one.span and one.span.line)]
        if not problems and result == good and _value(kind, text) != document:
            silent.append((number, text))
    assert not placeless
    assert not silent


def _value(kind: str, text: str) -> Any:
    return yaml.safe_load(text) if kind == "eval.yaml" else json.loads(text)
