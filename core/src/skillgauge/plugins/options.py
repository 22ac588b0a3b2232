"""Say what is wrong with the options of a plugin."""

from __future__ import annotations

from pydantic_core import ErrorDetails

from ..errors import Origin, Problem, did_you_mean
from ..types.frozen import JsonObject
from .kinds import Resolved


def option_problem(resolved: Resolved, detail: ErrorDetails, given: JsonObject, origin: Origin | None) -> Problem:
    """What to say of one fault that pydantic found in the options of a plugin, with its place if they were given."""
    place, text = detail["loc"], detail["msg"]
    if detail["type"] == "extra_forbidden":
        fields = resolved.provider.options.model_fields.items() if len(place) == 1 else ()
        text = f"unknown option{did_you_mean(str(place[-1]), [field.alias or name for name, field in fields])}"
    if origin and place and place[0] in given:
        origin = Origin(origin.file, origin.pointer + place)
    key = ".".join(map(str, (resolved.kind, resolved.name, *place)))
    return Problem("plugin.options", f"{key}: {text}", origin=origin)
