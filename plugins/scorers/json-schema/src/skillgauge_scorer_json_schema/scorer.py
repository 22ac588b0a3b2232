"""Validation of an answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from jsonschema import ValidationError
from jsonschema.protocols import Validator

from skillgauge.api import Score, ScoreContext, thaw

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
        self._timeout_s = options.timeout_s

    async def score(self, context: ScoreContext) -> Score:
        """Validate."""
        try:
            value = thaw(context.answer.as_json())
        except (ValueError, RecursionError) as error:
            told = "nested too deeply" if isinstance(error, RecursionError) else _cut(str(error))
            return Score.failed(f"The output is text that is not JSON: {told}")
        try:
            errors = await asyncio.to_thread(_errors, self._validator, value, time.monotonic() + self._timeout_s)
        except TimeoutError:
            return Score.ungraded(f"Validation was given up after {self._timeout_s:g} s; simplify the schema")
        except RecursionError:
            return Score.ungraded("Validation did not come to an end: the schema refers to itself too often")
        if not errors:
            return Score.passed()
        shown = errors[:_SHOWN_ERRORS]
        reason = "; ".join(f"{pointer(error.absolute_path)} {_cut(error.message)}" for error in shown)
        more = "; and more" if len(errors) > len(shown) else ""
        found = tuple({"path": pointer(one.absolute_path), "keyword": str(one.validator or "")} for one in shown)
        return Score.failed(reason + more, evidence={"errors": found})


def _errors(validator: Validator, value: Any, until: float) -> Sequence[ValidationError]:
    """The first errors, one more than are shown."""
    deadline.set(until)  # of this call alone: a thread's work has a context of its own
    return list(islice(validator.iter_errors(value), _SHOWN_ERRORS + 1))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
