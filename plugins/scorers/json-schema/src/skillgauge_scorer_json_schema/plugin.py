"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel

from skillgauge.api import Provider, Scorer, hookimpl

from .options import JsonSchemaOptions


def _make(options: BaseModel) -> Scorer:
    from .scorer import JsonSchemaScorer  # noqa: PLC0415 - announcing stays cheap

    return JsonSchemaScorer(JsonSchemaOptions.model_validate(options))


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `json-schema`."""
    yield Provider(
        name="json-schema",
        options=JsonSchemaOptions,
        factory=_make,
        summary="Output is valid against a JSON Schema.",
    )
