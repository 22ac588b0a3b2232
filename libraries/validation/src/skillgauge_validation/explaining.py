"""From pydantic's errors to problems that a person understands, each with its place."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError

from skillgauge.api import Document, Origin, Problem, SuiteError, did_you_mean

Step: TypeAlias = str | int
Pointer: TypeAlias = tuple[Step, ...]

M = TypeVar("M", bound=BaseModel)

_TYPES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "iterable": "a list",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
    "model_attributes": "an object",
    "none": "null",
}
"""What pydantic's type errors ask for, by the beginning of their name, in the words of this program."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """One error of pydantic, translated."""

    pointer: Pointer
    arms: tuple[tuple[Pointer, str], ...]
    """Alternatives of unions that were being tried: where, and which."""
    kind: str
    message: str
    expected: str | None = None
    """Set if the value as a whole is unfit: what would have been fit."""
    value: object = None


def validate(model: type[M], value: object, origin_of: Document | Callable[..., Origin], *pointer: Step) -> M:
    """Make a model from part of a document, with all that is wrong with it as problems.

    Args:
        model: decides what is allowed; its strictness is its own.
        value: the part of the document.
        origin_of: the document, or a function like `Document.origin`.
        pointer: where the part stands in the document.

    Raises:
        SuiteError: with every problem: `suite.unknown-key`, `suite.missing-key`, `suite.wrong-type`, `suite.value`.
    """
    make = origin_of.origin if isinstance(origin_of, Document) else origin_of
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        faults = _collapse([_fault(detail, value) for detail in details])
        problems = [_problem(fault, model, make(*pointer, *fault.pointer), pointer) for fault in faults]
        raise SuiteError(problems) from error


def with_near_keys(problem: Problem, value: object) -> Problem:
    """A missing key may be there under a slightly different name; for models that take further keys.

    Args:
        problem: of `validate`.
        value: the object that the key is missing in.
    """
    if problem.code != "suite.missing-key" or not isinstance(value, Mapping) or problem.origin is None:
        return problem
    near = get_close_matches(str(problem.origin.pointer[-1]), [str(key) for key in value], n=1)
    return replace(problem, message=f"{problem.message} (misspelt as {near[0]}?)") if near else problem


def _fault(detail: Mapping[str, Any], value: object) -> _Fault:
    name, given = detail["type"], detail["input"]
    pointer, arms = _data_path(detail["loc"], value, missing=name == "missing")
    if name == "missing":
        return _Fault(pointer, arms, "missing-key", "is missing")
    if name == "extra_forbidden":
        return _Fault(pointer, arms, "unknown-key", "")
    match = re.match(r"(\w+?)_(?:sub_)?(?:type|parsing|required|from_float)", name)
    if match and match[1] in _TYPES:
        return _Fault(pointer, arms, "wrong-type", "", _TYPES[match[1]], given)
    if name in ("literal_error", "enum"):
        return _Fault(pointer, arms, "value", "", detail["ctx"]["expected"], given)
    message = re.sub(r"^(?:Input|\w+) should ", "must ", detail["msg"].removeprefix("Value error, "))
    if message == "must be an object":  # the words of `JsonObject`
        return _Fault(pointer, arms, "wrong-type", "", _TYPES["dict"], given)
    shown = "" if isinstance(given, Mapping | list | tuple) else f", not {_shown(given)}"
    return _Fault(pointer, arms, "value", f"{message}{shown}" if message.startswith("must ") else f": {message}")


def _data_path(loc: tuple[Step, ...], value: Any, *, missing: bool) -> tuple[Pointer, tuple[tuple[Pointer, str], ...]]:
    """Divide a location of pydantic into steps that the data has, and names of alternatives that it tried."""
    path: list[Step] = []
    arms: list[tuple[Pointer, str]] = []
    for index, step in enumerate(loc):
        if step in value if isinstance(value, Mapping) else _is_index(step, value):
            value = value[step]
        elif not (missing and index == len(loc) - 1):
            arms.append((tuple(path), str(step)))
            continue
        path.append(step)
    return tuple(path), tuple(arms)


def _is_index(step: Step, value: object) -> bool:
    return isinstance(step, int) and isinstance(value, list | tuple) and step < len(value)


def _collapse(faults: Iterable[_Fault]) -> list[_Fault]:
    """Of a union's alternatives keep the one that fits best; if none comes near, say them all in one sentence."""
    kept: list[_Fault] = []
    unions: dict[Pointer, dict[str, list[_Fault]]] = {}
    for fault in faults:
        if fault.arms:
            (where, arm), *rest = fault.arms
            unions.setdefault(where, {}).setdefault(arm, []).append(replace(fault, arms=tuple(rest)))
        else:
            kept.append(fault)
    for where, arms in unions.items():
        kept += _best_of_union(where, [_collapse(arm) for arm in arms.values()])
    return kept


def _best_of_union(where: Pointer, alternatives: Sequence[list[_Fault]]) -> list[_Fault]:
    """Return the faults of the alternative that comes nearest, or one fault that names all alternatives."""
    near = [faults for faults in alternatives if not _is_of_another_kind(faults, where)]
    if near:
        return min(near, key=len)
    flat = [fault for faults in alternatives for fault in faults]
    expected = " or ".join(dict.fromkeys(fault.expected or "" for fault in flat))
    kind = "value" if any(fault.kind == "value" for fault in flat) else "wrong-type"
    return [replace(flat[0], kind=kind, expected=expected)]


def _is_of_another_kind(faults: Iterable[_Fault], where: Pointer) -> bool:
    """Return whether an alternative wants another kind of value altogether at the place of the union."""
    return all(fault.expected and fault.pointer == where for fault in faults)


def _problem(fault: _Fault, model: type[BaseModel], origin: Origin, base: Pointer) -> Problem:
    code = f"suite.{fault.kind}"
    if fault.kind == "unknown-key":
        key = str(fault.pointer[-1])
        keys = _keys_at(model, fault.pointer[:-1])
        near = did_you_mean(key, keys)
        hint = None if near or not keys else f"Use one of {', '.join(keys)}."
        return Problem(code, f"unknown key {key!r}{near}", origin=origin, hint=hint)
    name = _name((*base, *fault.pointer))
    if fault.expected is None:
        blank = "" if fault.message.startswith(":") else " "
        return Problem(code, f"{name}{blank}{fault.message}", origin=origin)
    options = re.findall(r"'([^']*)'", fault.expected)
    near = did_you_mean(fault.value, options) if isinstance(fault.value, str) else ""
    return Problem(code, f"{name} must be {fault.expected}, not {_shown(fault.value)}{near}", origin=origin)


def _name(pointer: Pointer) -> str:
    """The last key of a pointer with the indices that follow it."""
    indices = ""
    for step in reversed(pointer):
        if isinstance(step, str):
            return f"{step + indices!r}"
        indices = f"[{step}]{indices}"
    return f"item {indices}" if indices else "the document"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return f"the text {text}" if isinstance(value, str) else text


def _keys_at(model: type[BaseModel], pointer: Pointer) -> list[str]:
    """Keys that the models know which may stand at a place of the data."""
    reached: list[Any] = [model]
    for step in pointer:
        reached = [found for annotation in reached for found in _below(annotation, step)]
    return list(dict.fromkeys(key for found in reached if _is_model(found) for key in _keys(found)))


def _below(annotation: Any, step: Step) -> Iterator[Any]:
    """Yield the types that may stand one step below a type, alternatives resolved."""
    if _is_model(annotation):
        for key, inner in _keys(annotation).items():
            if key == step:
                yield from _alternatives(inner)
    elif get_origin(annotation) in (list, tuple, dict, Mapping):
        for inner in get_args(annotation):
            yield from _alternatives(inner)


def _alternatives(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _alternatives(inner)
    else:
        yield annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _keys(model: type[BaseModel]) -> dict[str, Any]:
    """Every spelling under which a model takes a field, with the field's type."""
    keys: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        spellings: list[object] = [info.validation_alias or name]
        if isinstance(info.validation_alias, AliasChoices):
            spellings = [*info.validation_alias.choices]
        keys |= {spelling: info.annotation for spelling in spellings if isinstance(spelling, str)}
    return keys
