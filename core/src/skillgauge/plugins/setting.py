"""Options of a plugin: what the environment gives them, and what to say of those that are wrong."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from skillgauge_documents.frozen import JsonObject
from skillgauge_documents.immutables import immutable

from ..contract.redirects import LookUp, redirected
from ..errors import Origin, Problem, did_you_mean
from .kinds import Resolved
from .sharing import Block, blocks_of


def redirect(resolved: Resolved, options: MutableMapping[str, object], look_up: LookUp) -> Mapping[str, str]:
    """Give options that are not set the addresses that the environment holds for them.

    Args:
        resolved: the plugin, whose traits declare the variables.
        options: those that are set; the others are added.
        look_up: gives values of environment variables.

    Returns:
        The variable behind each option that was added.
    """
    if not resolved.provider.traits.redirects:
        return {}  # as of every scorer, which is asked for each check
    target_address = redirected(resolved.provider.traits.redirects, options, look_up)
    options.update({option: address for option, (_, address) in target_address.items()})
    return {option: variable for option, (variable, _) in target_address.items()}


@immutable
class Setting:
    """Where the values of a plugin's options come from."""

    own: Mapping[str, object]
    """Options that are set for the plugin itself."""
    given: JsonObject
    """Those of them that were given beside the configuration's."""
    origin: Origin | None
    """Where these were given."""
    variables: Mapping[str, str]
    """The environment variable behind each option that is not set."""


def option_problems(resolved: Resolved, error: ValidationError, setting: Setting) -> list[Problem]:
    """Return everything that pydantic found wrong with the options of a plugin.

    Args:
        resolved: the plugin.
        error: what pydantic says.
        setting: where the options come from.
    """
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [_option_problem(resolved, detail, setting) for detail in details]


def _option_problem(resolved: Resolved, detail: ErrorDetails, setting: Setting) -> Problem:
    place = detail["loc"]
    if place and place[0] in setting.variables:
        return _of_variable(resolved, detail, setting.variables)
    for block in blocks_of(resolved.provider.options):
        if len(place) > 1 and place[0] == block.option and not _is_set(setting.own.get(block.option), place[1]):
            return _of_block(resolved, block, detail)
    return _of_option(resolved, detail, setting)


def _is_set(values: object, key: object) -> bool:
    return isinstance(values, Mapping) and key in values


def _of_block(resolved: Resolved, block: Block, detail: ErrorDetails) -> Problem:
    """Describe a fault in a block that plugins share."""
    place = detail["loc"][1:]
    key = ".".join((block.full_name, *map(str, place)))
    hint = f"skillgauge plugins info {resolved.kind} {resolved.name}"
    return Problem("plugin.options", f"{key}: {_text(detail, block.model, is_top=len(place) == 1)}", hint=hint)


def _of_option(resolved: Resolved, detail: ErrorDetails, setting: Setting) -> Problem:
    """Describe a fault in an option, with its place if it was given."""
    place, origin = detail["loc"], setting.origin
    if origin is not None and place and place[0] in setting.given:
        origin = Origin(origin.file, origin.pointer + place)
    key = ".".join(map(str, (resolved.kind, resolved.name, *place)))
    hint = f"skillgauge plugins info {resolved.kind} {resolved.name}"
    text = _text(detail, resolved.provider.options, is_top=len(place) == 1)
    return Problem("plugin.options", f"{key}: {text}", origin=origin, hint=hint)


def _text(detail: ErrorDetails, model: type[BaseModel], *, is_top: bool) -> str:
    """Say what is wrong; an unknown option of the model itself comes with a near name."""
    if detail["type"] != "extra_forbidden":
        return detail["msg"].removeprefix("Value error, ")
    if not is_top or not model.model_fields:
        return "unknown option"
    names = [field.alias or name for name, field in model.model_fields.items()]
    takes = f"; it takes {', '.join(names)}"
    return f"unknown option{did_you_mean(str(detail['loc'][-1]), names) or takes}"


def _of_variable(resolved: Resolved, detail: ErrorDetails, variables: Mapping[str, str]) -> Problem:
    """A fault in an environment variable that stands for an option."""
    option = str(detail["loc"][0])
    variable, plugin = variables[option], f"{resolved.kind}.{resolved.name}"
    reason = detail["msg"].removeprefix("Value error, ")
    message = f"environment variable {variable}, which says where {plugin} asks: {reason}"
    hint = f"Mend or unset {variable}, or say it for this plugin alone: --set {plugin}.{option}=URL."
    return Problem("plugin.redirect", message, hint=hint)
