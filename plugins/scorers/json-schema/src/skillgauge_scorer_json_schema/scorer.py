"""Validation of an answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from jsonschema.protocols import Validator

from skillgauge.api import Score, ScoreContext, ScoreStatus, thaw
from skillgauge.api.report import Answer

from .finding import values_in
from .keywords import deadline
from .options import JsonSchemaOptions
from .schemas import pointer, validator_of

_SHOWN_ERRORS = 10
_SHOWN = 300


class JsonSchemaScorer:
    """Passes an output that is valid; there is no partial credit.

    Validation is that of the package `jsonschema`, formats included. An answer that is text is read as JSON first. It
    runs in a thread, because a long answer takes long.
    """

    version = "1"

    def __init__(self, options: JsonSchemaOptions) -> None:
        self._validator = validator_of(options.json_schema)
        self._timeout_s, self._anywhere, self._absent = options.timeout_s, options.anywhere, options.absent

    async def score(self, context: ScoreContext) -> Score:
        """Validate."""
        until = time.monotonic() + self._timeout_s
        try:
            values = await asyncio.to_thread(self._values, context.answer, until)
        except TimeoutError:
            return Score.ungraded(f"No JSON was found in the output within {self._timeout_s:g} s")
        except (ValueError, RecursionError) as error:
            message = "nested too deeply" if isinstance(error, RecursionError) else _cut(str(error))
            return self._judged(Score.failed(f"The output is text that is not JSON: {message}"))
        score = Score.failed("There is no JSON in the output")
        for value in values:
            score = await self._validated(value, until)
            if score.status is not ScoreStatus.FAILED:
                break
        return self._judged(score)

    def _values(self, answer: Answer, until: float) -> Sequence[Any]:
        if self._anywhere and isinstance(answer.value, str):
            return values_in(answer.value, until)
        return (thaw(answer.as_json()),)

    def _judged(self, score: Score) -> Score:
        """The contrary where that is asked for."""
        if not self._absent or score.status is ScoreStatus.UNGRADED:
            return score
        if score.status is ScoreStatus.FAILED:
            return Score.passed(score.reason)
        return Score.failed("The output holds what is valid" if self._anywhere else "The output is valid")

    async def _validated(self, value: Any, until: float) -> Score:
        try:
            errors = await asyncio.to_thread(_errors, self._validator, value, until)
        except TimeoutError:
            return Score.ungraded(f"Validation was given up after {self._timeout_s:g} s; simplify the schema")
        except RecursionError:
            return Score.ungraded("Validation did not come to an end: the schema refers to itself too often")
        if not errors:
            return Score.passed()
        shown = errors[:_SHOWN_ERRORS]
        reason = "; ".join(f"{pointer(error.absolute_path)} {_cut(error.message)}" for error in shown)
        more = "; and more" if len(errors) > len(shown) else ""
        faults_found = tuple({"path": pointer(one.absolute_path), "keyword": str(one.validator or "")} for one in shown)
        return Score.failed(reason + more, evidence={"errors": faults_found})


def _errors(validator: Validator, value: Any, until: float) -> Sequence[ValidationError]:
    """The first errors, one more than are shown."""
    deadline.set(until)  # of this call alone: a thread's work has a context of its own
    return list(islice(validator.iter_errors(value), _SHOWN_ERRORS + 1))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
