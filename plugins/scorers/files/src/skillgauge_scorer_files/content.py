"""The content that a file must have."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping

import regex

from skillgauge.api import JsonValue, freeze, without_secrets
from skillgauge_patterns import compiled, from_javascript

from .options import FilesOptions, Syntax

_SHOWN = 100


class TooSlowError(Exception):
    """A pattern could not be decided in time."""


class Content:
    """Finds what is missing in a file, or too much."""

    def __init__(self, options: FilesOptions) -> None:
        flags = 0 if options.case_sensitive else regex.IGNORECASE
        rewritten = from_javascript if options.syntax is Syntax.JAVASCRIPT else str
        self._patterns = tuple((written, compiled(rewritten(written), flags)) for written in options.patterns)
        self._options = options

    async def faults(self, data: bytes) -> tuple[str, ...]:
        """Return the faults of a file; empty if it has none.

        Raises:
            TooSlowError: a pattern backtracks too much to tell.
        """
        text = data.decode("utf-8-sig", "replace")
        faults = [*self._in_text(text), *self._in_json(text)]
        for written, pattern in self._patterns:
            try:
                match = await asyncio.to_thread(pattern.search, text, timeout=self._options.timeout_s, concurrent=True)
            except TimeoutError:
                raise TooSlowError(f"pattern {_cut(written)} takes too long on this file") from None
            if match is None:
                faults.append(f"nothing matches {_cut(written)}")
        return tuple(faults)

    def _in_text(self, text: str) -> Iterator[str]:
        options = self._options
        folded = self._folded(text)
        yield from (f"{_cut(one)} is missing" for one in options.contains if self._folded(one) not in folded)
        yield from (f"{_cut(one)} is in it" for one in options.lacks if self._folded(one) in folded)
        if options.equals is not None and _ended(folded) != _ended(self._folded(options.equals)):
            yield "the text is another"

    def _in_json(self, text: str) -> Iterator[str]:
        if not self._options.wants_json:
            return
        try:
            value = freeze(json.loads(text))
        except (ValueError, RecursionError) as error:
            yield f"it is no JSON ({type(error).__name__})"
            return
        yield from differences(self._options.json_value, value)

    def _folded(self, text: str) -> str:
        return text if self._options.case_sensitive else text.lower()


def differences(expected: JsonValue, value: JsonValue, at: str = "$") -> Iterator[str]:
    """Yield the places where a value is not as expected: objects may have more keys, lists have the same length."""
    if isinstance(expected, Mapping) and isinstance(value, Mapping):
        for key, item in expected.items():
            if key in value:
                yield from differences(item, value[key], f"{at}.{key}")
            else:
                yield f"{at}.{key} is missing"
    elif isinstance(expected, tuple) and isinstance(value, tuple):
        if len(expected) != len(value):
            yield f"{at} has {len(value)} items instead of {len(expected)}"
            return
        for index, (expected_item, item) in enumerate(zip(expected, value, strict=True)):
            yield from differences(expected_item, item, f"{at}[{index}]")
    elif isinstance(expected, bool) is not isinstance(value, bool) or expected != value:
        yield f"{at} is {_cut(value)} instead of {_cut(expected)}"


def _ended(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def _cut(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | None) else str(value)
    text = without_secrets(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
