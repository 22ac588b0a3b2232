"""The shape of a document: several tools give the same name to different files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from skillgauge_documents.immutables import immutable

from ..keys import KEYS, NAMES, Use, snake_case
from .trigger_shapes import SIDES, is_trigger_set

RUBRIC_KEYS = ("assertions", "expectations", "expected_output")
PROMPT_KEYS = ("prompt", *NAMES["prompt"])
LIST_KEYS = (
    *("evals", "cases", "test_cases", "testCases", "eval_cases", "scenarios", "tests"),
    *("quality_evals", "qualityEvals", "output_evals", "outputEvals"),
)
"""Where an object has its evals."""
CHECK_KEYS = (
    *RUBRIC_KEYS,
    *NAMES["expected_output"],
    "should_trigger",
    "expected_skill",
    *(key for key, use in KEYS.items() if use in (Use.CLAIMS, Use.REFUTED, Use.SECTIONS, Use.SOUGHT, Use.EXCLUDED)),
)
"""Keys with which an item says what has to be true."""
_QUESTION_KEYS = ("question", "ground_truth", "expected_behavior")
_OWN_KEYS = ("id", "assertions", "expected_output", *_QUESTION_KEYS)
"""Keys that named cases in YAML do not have."""
_LOOKED_AT = 5
"""Items of a list that are looked at; the others are like them, or a problem of their own."""


TRIGGERS = "triggers"
"""Dialect of suites of queries."""


class Shape(StrEnum):
    """The shapes that this format reads."""

    EVALS = "evals"
    """An object with `evals`."""
    EVAL_LIST = "eval list"
    """The same cases in a bare list."""
    CASES = "cases"
    """An object with the same cases under another name."""
    ONE = "one eval"
    """A single eval, in no list."""
    TRIGGERS = "triggers"
    """Queries, and whether the skill should fire."""


@immutable
class Foreign:
    """A suite that another format reads, if one is installed."""

    what: str
    """What it is, as a phrase."""
    mark: str
    """What the format that reads it announces in the group `skillgauge.shapes`."""


QUESTIONS = Foreign("an object with `cases` that ask a `question`", "cases.question")
NAMED_CASES = Foreign("YAML with `cases` that have a name and a prompt", "cases.name")
CASE_FOLDER = Foreign("a case of claude plugin eval", "case.graders")
SCENARIO = Foreign("a scenario of Tessl", "scenario.criteria")
PACKAGE = Foreign("a package with tests or evals", "package.agent.json")
_TASKS = Foreign("an object with `tasks` that have an `instruction`", "tasks.instruction")
_CONFIGURED = Foreign("an object with `skill`, `config` and `tasks`", "tasks.config")
_STIMULI = Foreign("an object with `stimuli`", "stimuli")
_TESTS = Foreign("an object with `tests` that have `vars`, `assert` or `input`", "tests.assert")


def shape_of(value: object, *, is_yaml: bool = False) -> Shape | Foreign | None:
    """Return the shape of a document; `None` if it is no known suite."""
    if isinstance(value, Mapping):
        # Its cases may say no more than whether the skill should fire: that alone does not make a trigger set of them.
        return NAMED_CASES if is_yaml and _are_named(value) else _object_shape(value)
    return _list_shape(value) if _is_list(value) else None


def _object_shape(value: Mapping[Any, Any]) -> Shape | Foreign | None:
    if _is_list(value.get("evals")):
        return Shape.EVALS
    if is_trigger_set(value):
        return Shape.TRIGGERS
    cases = _items(value.get("cases"))
    if cases and any(key in cases[0] for key in _QUESTION_KEYS):
        return QUESTIONS
    if (shape := _eval_yaml(value)) is not None:
        return shape
    if is_eval(value):
        return Shape.ONE
    items = _items(value.get(list_key(value)))
    return Shape.CASES if items and any(map(is_eval, items)) else None


def list_key(value: Mapping[Any, Any]) -> str:
    """Return the key under which an object has its evals."""
    return next((key for key in LIST_KEYS if _items(value.get(key))), "evals")


def is_eval(item: object) -> bool:
    """Tell whether an object asks an agent something, and says what has to be true then."""
    if not isinstance(item, Mapping):
        return False
    keys = {snake_case(str(key)) for key in item} | item.keys()
    return not keys.isdisjoint(PROMPT_KEYS) and not keys.isdisjoint(CHECK_KEYS)


def evals_in(value: object) -> int:
    """Count the evals of a list; 0 for anything else."""
    return sum(map(is_eval, value)) if isinstance(value, list | tuple) else 0


def _are_named(value: Mapping[Any, Any]) -> bool:
    """Tell whether cases have a name and a prompt, or validators, and nothing of other tools; it reads YAML alone."""
    cases = _items(value.get("cases"))
    if not cases or any(key in cases[0] for key in _OWN_KEYS):
        return False
    if not ({"name", "prompt"} <= cases[0].keys() or any("validators" in case for case in cases)):
        return False
    return not any(key in value for key in (*SIDES, *LIST_KEYS) if key != "cases")


def _eval_yaml(value: Mapping[Any, Any]) -> Foreign | None:
    """The many meanings of a file that is called eval.yaml."""
    tasks = _items(value.get("tasks"))
    if tasks and "instruction" in tasks[0]:
        return _TASKS
    if "skill" in value and "config" in value and ("tasks" in value or "tasks_from" in value):
        return _CONFIGURED
    if _is_list(value.get("stimuli")):
        return _STIMULI
    tests = _items(value.get("tests"))
    if tests and any(key in tests[0] for key in ("vars", "assert", "input")):
        return _TESTS
    return None


def _list_shape(value: object) -> Shape | Foreign | None:
    items = _items(value)
    if not items:
        return None
    first = [item for item in items[:_LOOKED_AT] if isinstance(item, Mapping)]
    if is_trigger_set(value):
        return Shape.TRIGGERS
    return Shape.EVAL_LIST if any(map(is_eval, first)) else None


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _items(value: object) -> Sequence[Any] | None:
    """A list with an object among its first items; `None` if it is something else."""
    if not isinstance(value, list | tuple) or not any(isinstance(item, Mapping) for item in value[:_LOOKED_AT]):
        return None
    return [item for item in value if isinstance(item, Mapping)]
