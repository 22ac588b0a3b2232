"""Options of a plugin: what the environment gives them, and what to say of those that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from skillgauge_documents.frozen import JsonObject

from ..contract.redirects import LookUp, redirected
from ..errors import Origin, Problem, did_you_mean
from .kinds import Resolved


def redirect(resolved: Resolved, options: MutableMapping[str, object], look_up: LookUp) -> Mapping[str, str]:
    """Give options that are not set the addresses that the environment holds for them.

    Args:
        resolved: the plugin, whose traits declare the variables.
        options: those that are set; the others are added.
        look_up: gives values of environment variables.

    Returns:
        The variable behind each option that was added.
    """
    found = redirected(resolved.provider.traits.redirects, options, look_up)
    options.update({option: address for option, (_, address) in found.items()})
    return {option: variable for option, (variable, _) in found.items()}


def option_problems(
    resolved: Resolved,
    error: ValidationError,
    given: JsonObject,
    origin: Origin | None,
    variables: Mapping[str, str],
) -> list[Problem]:
    """Return everything that pydantic found wrong with the options of a plugin.

    Args:
        resolved: the plugin.
        error: what pydantic says.
        given: options that were given beside those of the configuration.
        origin: where they were given.
        variables: the environment variable behind each option that none of them sets.
    """
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        _of_variable(resolved, detail, variables)
        if detail["loc"] and detail["loc"][0] in variables
        else _of_option(resolved, detail, given, origin)
        for detail in details
    ]


def _of_option(resolved: Resolved, detail: ErrorDetails, given: JsonObject, origin: Origin | None) -> Problem:
    """A fault in an option, with its place if it was given."""
    place, text = detail["loc"], detail["msg"]
    if detail["type"] == "extra_forbidden":
        fields = resolved.provider.options.model_fields.items() if len(place) == 1 else ()
        text = f"unknown option{did_you_mean(str(place[-1]), [field.alias or name for name, field in fields])}"
    origin = origin and Origin(origin.file, origin.pointer + (place if place and place[0] in given else ()))
    key = ".".join(map(str, (resolved.kind, resolved.name, *place)))
    hint = f"skillgauge plugins info {resolved.kind} {resolved.name}"
    return Problem("plugin.options", f"{key}: {text}", origin=origin, hint=hint)


def _of_variable(resolved: Resolved, detail: ErrorDetails, variables: Mapping[str, str]) -> Problem:
    """A fault in an environment variable that stands for an option."""
    option = str(detail["loc"][0])
    variable, plugin = variables[option], f"{resolved.kind}.{resolved.name}"
    reason = detail["msg"].removeprefix("Value error, ")
    message = f"environment variable {variable}, which says where {plugin} asks: {reason}"
    hint = f"Mend or unset {variable}, or say it for this plugin alone: --set {plugin}.{option}=URL."
    return Problem("plugin.redirect", message, hint=hint)
