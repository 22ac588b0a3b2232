"""Announces the scorer; what it does is in `scorer`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Provider, Scorer, hookimpl

from .options import JsonSchemaOptions


@hookimpl
def skillgauge_scorers() -> Iterable[Provider[Scorer]]:
    """Announce `json-schema`."""
    yield Provider(
        name="json-schema",
        options=JsonSchemaOptions,
        factory="skillgauge_scorer_json_schema.scorer:JsonSchemaScorer",
        summary="Output is valid against a JSON Schema.",
    )
