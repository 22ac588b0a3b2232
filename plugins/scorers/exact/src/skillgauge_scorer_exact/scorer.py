"""Equality of texts."""

from __future__ import annotations

from collections.abc import Mapping

from skillgauge.api import Execution, JsonValue, Score, ScoreContext

from .javascript import WHITE_SPACE, as_text
from .options import ExactOptions

ANSWER_KEYS = ("result", "output", "answer")
"""Of an output that is an object, the first of these keys that it has is compared."""
_SHOWN = 200


class ExactScorer:
    """Passes an output that equals a value; there is no partial credit.

    Both sides are turned into text as eval-skills does it, that is, as JavaScript does, so that benchmarks mean the
    same here. Text is not normalised: composed and decomposed accents differ.
    """

    version = "1"

    def __init__(self, options: ExactOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Compare."""
        expected = as_text(self._options.value).strip(WHITE_SPACE)
        actual = as_text(_answer(context.execution)).strip(WHITE_SPACE)
        folded = (expected, actual) if self._options.case_sensitive else (expected.lower(), actual.lower())
        if folded[0] == folded[1]:
            return Score.passed()
        shown = {"expected": _cut(expected), "actual": _cut(actual)}
        reason = f'Expected "{shown["expected"]}" but got "{shown["actual"]}"'
        if max(len(expected), len(actual)) > _SHOWN:
            reason += f"; the first difference is at character {_first_difference(*folded)}"
        return Score.failed(reason, evidence=shown)


def _answer(execution: Execution) -> JsonValue:
    """What was answered: the output of a direct call, picked out of its object, else the text of an agent."""
    output = execution.output
    if output is None:
        return execution.text
    if isinstance(output, Mapping):
        return next((output[key] for key in ANSWER_KEYS if key in output), output)
    return output


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"


def _first_difference(one: str, other: str) -> int:
    """Position of it, counted from 1."""
    pairs = enumerate(zip(one, other, strict=False), 1)
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(one), len(other)) + 1)
