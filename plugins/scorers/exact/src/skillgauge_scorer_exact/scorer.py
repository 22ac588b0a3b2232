"""Equality of texts and structures."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import JsonValue, Score, ScoreContext, TextStyle, text_of

from .options import ExactOptions

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What is taken away at both ends of a text: white space and the byte order mark, but no separators of records."""
_SHOWN = 200


class ExactScorer:
    """Passes an output that equals a value; there is no partial credit.

    A value that is text is compared with the text of the answer, which is not normalised: composed and decomposed
    accents differ. Any other value is compared as a structure, with an answer that is text read as JSON.
    """

    version = "2"

    def __init__(self, options: ExactOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Compare."""
        answer, value = context.answer, self._options.value
        if not isinstance(value, str) and (answer.style is not TextStyle.JAVASCRIPT or _holds_object(value)):
            return self._structures(context)
        expected = text_of(value, answer.style).strip(WHITE_SPACE)
        actual = answer.text.strip(WHITE_SPACE)
        folded = self._folded(expected), self._folded(actual)
        return Score.passed() if folded[0] == folded[1] else _differs(expected, actual, _first_difference(*folded))

    def _structures(self, context: ScoreContext) -> Score:
        expected, actual = text_of(self._options.value), text_of(context.answer.value)
        try:
            equal = self._same(self._options.value, context.answer.as_json())
        except (ValueError, RecursionError):
            equal = False
        return Score.passed() if equal else _differs(expected, actual, _first_difference(expected, actual))

    def _same(self, first: JsonValue, second: JsonValue) -> bool:
        """Tell whether two JSON values are equal: 1 equals 1.0, and true does not equal 1."""
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            return first.keys() == second.keys() and all(self._same(item, second[key]) for key, item in first.items())
        if isinstance(first, tuple) and isinstance(second, tuple):
            return len(first) == len(second) and all(map(self._same, first, second))
        if isinstance(first, str) and isinstance(second, str):
            return self._folded(first) == self._folded(second)
        return isinstance(first, bool) is isinstance(second, bool) and first == second

    def _folded(self, text: str) -> str:
        return text if self._options.case_sensitive else text.lower()


def _holds_object(value: JsonValue) -> bool:
    """Tell whether there is an object in it, which JavaScript would write as nothing that can be compared."""
    return isinstance(value, Mapping) or (isinstance(value, tuple) and any(map(_holds_object, value)))


def _differs(expected: str, actual: str, at: int) -> Score:
    shown = {"expected": _cut(expected), "actual": _cut(actual)}
    reason = f'Expected "{shown["expected"]}" but got "{shown["actual"]}"'
    if max(len(expected), len(actual)) > _SHOWN:
        reason += f"; the first difference is at character {at}"
    return Score.failed(reason, evidence=shown)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"


def _first_difference(first: str, second: str) -> int:
    """Position of it, counted from 1."""
    pairs = enumerate(zip(first, second, strict=False), 1)
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(first), len(second)) + 1)
