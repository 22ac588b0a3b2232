"""What a document is, by its shape: several tools give the same name to different files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .trigger_shapes import is_trigger_set

RUBRIC_KEYS = ("assertions", "expectations", "expected_output")
_BENCHFLOW_KEYS = ("question", "ground_truth", "expected_behavior")
_LOOKED_AT = 5
"""Items of a list that are looked at; the others are like them, or a problem of their own."""


class Shape(StrEnum):
    """What this format reads."""

    EVALS = "evals"
    """An object with `evals`."""
    EVAL_LIST = "eval list"
    """The same cases in a bare list."""
    TRIGGERS = "triggers"
    """Queries, and whether the skill should fire."""


@dataclass(frozen=True)
class Foreign:
    """A suite of another tool."""

    what: str
    """What it is, as a phrase."""
    plugin: str
    """Name of the format that reads it."""
    is_published: bool = True
    """Whether there is such a format to be installed; if not, somebody may have written one all the same."""


BENCHFLOW_CASES = Foreign("an object with `cases`, as BenchFlow has it", "benchflow")
SKILLEVALUATION = Foreign("an eval.yaml of skillevaluation", "skillevaluation")
UAAPS = Foreign("a package with tests or evals of UAAPS", "uaaps")
SKILLGRADE = Foreign("an eval.yaml of skillgrade", "skillgrade", is_published=False)
WAZA = Foreign("an eval.yaml of waza", "waza", is_published=False)
STIMULI = Foreign("an eval.yaml with `stimuli`", "stimuli", is_published=False)
PROMPTFOO = Foreign("a suite of agentv or promptfoo", "promptfoo", is_published=False)


def shape_of(value: object) -> Shape | Foreign | None:
    """What a document is; `None` if it is no suite that anybody here knows."""
    if isinstance(value, Mapping):
        return _object_shape(value)
    return _list_shape(value) if _is_list(value) else None


def _object_shape(value: Mapping[Any, Any]) -> Shape | Foreign | None:
    if _items(value.get("evals")) is not None:
        return Shape.EVALS
    if is_trigger_set(value):
        return Shape.TRIGGERS
    cases = _items(value.get("cases"))
    if cases:
        return BENCHFLOW_CASES if any(key in cases[0] for key in _BENCHFLOW_KEYS) else _eval_yaml(value)
    return _eval_yaml(value)


def _eval_yaml(value: Mapping[Any, Any]) -> Foreign | None:
    """The many meanings of a file that is called eval.yaml."""
    cases, tasks = _items(value.get("cases")), _items(value.get("tasks"))
    if cases and "name" in cases[0] and "prompt" in cases[0]:
        return SKILLEVALUATION
    if tasks and "instruction" in tasks[0]:
        return SKILLGRADE
    if "skill" in value and "config" in value and ("tasks" in value or "tasks_from" in value):
        return WAZA
    if _is_list(value.get("stimuli")):
        return STIMULI
    tests = _items(value.get("tests"))
    if tests and any(key in tests[0] for key in ("vars", "assert", "input")):
        return PROMPTFOO
    return None


def _list_shape(value: object) -> Shape | Foreign | None:
    items = _items(value)
    if not items:
        return None
    first = items[:_LOOKED_AT]
    if is_trigger_set(value):
        return Shape.TRIGGERS
    if all("prompt" in item and any(key in item for key in RUBRIC_KEYS) for item in first):
        return Shape.EVAL_LIST
    if all("question" in item for item in first) and any(key in first[0] for key in (*_BENCHFLOW_KEYS[1:], "id")):
        return Shape.EVAL_LIST
    return None


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _items(value: object) -> Sequence[Mapping[Any, Any]] | None:
    """The items of a list of objects; `None` if it is something else."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value[:_LOOKED_AT]):
        return None
    return value
