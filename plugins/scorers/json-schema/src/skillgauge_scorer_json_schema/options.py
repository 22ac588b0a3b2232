"""The options of a check."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from skillgauge.api import HARMLESS, Frozen, JsonObject

_SHOWN = 5


def _sound(schema: JsonObject) -> JsonObject:
    from .schemas import faults  # noqa: PLC0415 - announcing stays cheap

    faults_found = faults(schema)
    if faults_found:
        more = f"; and {len(faults_found) - _SHOWN} more" if len(faults_found) > _SHOWN else ""
        raise ValueError("; ".join(faults_found[:_SHOWN]) + more)
    return schema


class JsonSchemaOptions(Frozen):
    """Options of `json-schema`."""

    json_schema: Annotated[JsonObject, AfterValidator(_sound)] = Field(
        alias="schema",
        description="The JSON Schema; its draft is that of `$schema`, else draft-07. Nothing outside it is fetched.",
        json_schema_extra=HARMLESS,
    )
    timeout_s: float = Field(
        default=5.0, gt=0, le=600, description="Seconds after which validation is given up.", json_schema_extra=HARMLESS
    )
    anywhere: bool = Field(
        default=False,
        description="Whether any object or list within the text of the output may be what is valid.",
        json_schema_extra=HARMLESS,
    )
    absent: bool = Field(
        default=False,
        description="Whether the output may not be valid, or hold what is, instead.",
        json_schema_extra=HARMLESS,
    )
