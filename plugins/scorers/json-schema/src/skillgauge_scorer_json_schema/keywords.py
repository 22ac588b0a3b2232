r"""Keywords whose reference implementation can take for ever, or whose verdict depends on the order of a set.

The answer that is validated comes from the thing under test, so neither a pattern that backtracks nor a long list may
stop the run. Patterns go to `regex`, which gives up in time and knows `\p{L}` as JavaScript does; `re` does neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from jsonschema import ValidationError

from skillgauge_patterns import compiled

deadline: ContextVar[float] = ContextVar("deadline")
"""`time.monotonic()` at which the validation that is going on has to end."""

Keyword = Callable[[Any, Any, Any, Any], Any]
"""Gives the errors of an instance, from validator, value of the keyword, instance and schema around it."""


def left_s() -> float:
    """Seconds until the deadline. Raises `TimeoutError` when there are none."""
    remaining = deadline.get() - time.monotonic()
    if remaining <= 0:
        raise TimeoutError
    return remaining


def timed(keyword: Keyword) -> Keyword:
    """The keyword, with a look at the clock before."""

    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        left_s()
        return keyword(validator, value, instance, schema)

    return check


def _matches(pattern: str, text: str) -> bool:
    return compiled(pattern).search(text, timeout=left_s()) is not None


def _pattern(validator: Any, value: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _matches(value, instance):
        yield ValidationError(f"{instance!r} does not match {value!r}")


def _pattern_properties(validator: Any, value: Mapping[str, Any], instance: Any, _s: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "object"):
        for pattern, inner in value.items():
            for name, item in instance.items():
                if _matches(pattern, name):
                    yield from validator.descend(item, inner, path=name, schema_path=pattern)


def _additional_properties(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [name for name in instance if name not in properties and not any(_matches(one, name) for one in patterns)]
    if validator.is_type(value, "object"):
        for name in extra:
            yield from validator.descend(instance[name], value, path=name)
    elif not value and extra:
        yield ValidationError(f"Additional properties are not allowed: {', '.join(map(repr, extra))}")


def _unique_items(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if value and validator.is_type(instance, "array"):
        first: dict[object, int] = {}
        for index, item in enumerate(instance):
            if first.setdefault(_comparable(item), index) != index:
                yield ValidationError(f"{item!r} at {index} stands there before: items are not unique")
                return


def _comparable(value: Any) -> object:
    """Something hashable that is equal for equal JSON values: 1 equals 1.0, but not true."""
    if isinstance(value, dict):
        return frozenset((name, _comparable(item)) for name, item in value.items())
    if isinstance(value, list):
        return (list, *map(_comparable, value))
    return (bool, value) if isinstance(value, bool) else value


SAFE: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
"""Keyword to its implementation, where it is not that of the reference."""
