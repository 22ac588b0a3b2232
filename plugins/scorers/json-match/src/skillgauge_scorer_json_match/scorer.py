"""Comparison of JSON values, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from skillgauge.api import JsonValue, Score, ScoreContext, text_of

from .options import JsonMatchOptions

_SHOWN_DIFFERENCES = 10
_SHOWN = 200


class JsonMatchScorer:
    """Passes an output that matches a JSON value; there is no partial credit.

    An answer that is text is read as JSON first. Lists are compared item by item, in order and length. Numbers are
    equal by value, `2` and `2.0`, and `true` is no number. With `subset` an object may have keys that the value does
    not name, at any depth; one that the value names must be there, also if the value has null for it.
    """

    version = "1"

    def __init__(self, options: JsonMatchOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Compare."""
        try:
            actual = context.answer.as_json()
        except (ValueError, RecursionError) as error:
            message = "nested too deeply" if isinstance(error, RecursionError) else _cut(str(error))
            return Score.failed(f"The output is text that is not JSON: {message}")
        differences = list(islice(self._differences(self._options.value, actual, ""), _SHOWN_DIFFERENCES + 1))
        if not differences:
            return Score.passed()
        shown = differences[:_SHOWN_DIFFERENCES]
        more = "; and more" if len(differences) > len(shown) else ""
        reason = "; ".join(f"{path or 'the output'}: {what}" for path, what in shown)
        evidence = {"differences": tuple({"path": path, "difference": what} for path, what in shown)}
        return Score.failed(reason + more, evidence=evidence)

    def _differences(self, expected: JsonValue, actual: JsonValue, path: str) -> Iterator[tuple[str, str]]:
        """Each place, as a JSON pointer, where the two differ, and how."""
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            yield from self._in_objects(expected, actual, path)
        elif isinstance(expected, tuple) and isinstance(actual, tuple):
            if len(expected) != len(actual):
                yield path, f"expected {len(expected)} items but got {len(actual)}"
            for index, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=False)):
                yield from self._differences(expected_item, actual_item, f"{path}/{index}")
        elif not self._equal(expected, actual):
            yield path, f"expected {_cut(_json(expected))} but got {_cut(_json(actual))}"

    def _in_objects(
        self, expected: Mapping[str, JsonValue], actual: Mapping[str, JsonValue], path: str
    ) -> Iterator[tuple[str, str]]:
        for key, value in expected.items():
            if key in actual:
                yield from self._differences(value, actual[key], _below(path, key))
            else:
                yield _below(path, key), f"is missing; expected {_cut(_json(value))}"
        if not self._options.subset:
            yield from ((_below(path, key), "was not expected") for key in actual if key not in expected)

    def _equal(self, expected: JsonValue, actual: JsonValue) -> bool:
        if isinstance(expected, bool) or isinstance(actual, bool):
            return expected is actual
        if isinstance(expected, int | float) and isinstance(actual, int | float):
            return expected == actual or _near(expected, actual, self._options.tolerance)
        return expected == actual


def _below(path: str, key: str) -> str:
    """JSON pointer of a key."""
    return f"{path}/{_cut(key).replace('~', '~0').replace('/', '~1')}"


def _near(first: float, second: float, tolerance: float) -> bool:
    try:
        return abs(first - second) <= tolerance
    except OverflowError:
        return False


def _json(value: JsonValue) -> str:
    return f'"{value}"' if isinstance(value, str) else text_of(value)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
