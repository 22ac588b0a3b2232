"""Read the checks that a user adds to the cases of any suite: `checks:` of the configuration, and `--check`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from skillgauge_documents import DocumentError, parse

from ..errors import Origin, PluginError, Problem, UsageError, did_you_mean
from ..plugins.kinds import SCORERS
from ..plugins.registry import Registry
from .configuration import Held
from .overlay import Overlay, OverlayCheck


def read_overlay(configured: Sequence[Mapping[str, object]], file: str, given: Sequence[str]) -> Overlay:
    """The overlay of a run.

    Args:
        configured: the value of `checks` in the configuration.
        file: where that was set, for problems.
        given: the words of `--check`, each a scorer's name or `NAME=JSON`, where the JSON object holds its options.

    Raises:
        UsageError: with all problems.
    """
    problems: list[Problem] = []
    checks: list[tuple[str, OverlayCheck, Origin | None]] = []
    for index, value in enumerate(configured):
        origin = Origin(file, ("checks", index))
        try:
            check = OverlayCheck.model_validate(value)
        except ValidationError as error:
            problems += [_problem(detail, origin) for detail in error.errors(include_url=False)]
        else:
            checks.append((f"checks[{index}] {check.scorer}", check, origin))
    for word in given:
        try:
            check = _typed_check(word)
        except UsageError as error:
            problems += error.problems
        else:
            option = f"--check {check.scorer}"  # stands for a file in problems, so that no suite is blamed for it
            checks.append((option, check, Origin(option)))
    if problems:
        raise UsageError(problems)
    return Overlay(tuple(checks))


def _typed_check(word: str) -> OverlayCheck:
    """Return the check that a word of `--check` describes.

    Raises:
        UsageError: it does not describe any.
    """
    name, equals, text = word.partition("=")
    try:
        options = parse(text, "json") if equals else {}
        return OverlayCheck.model_validate({"scorer": name, "options": options})
    except DocumentError as error:
        fault = error.faults[0]
        message = f"--check {word!r}: no JSON after '=': {fault.message}, at its character {fault.column}"
        raise UsageError(Problem("usage.check", message, hint=fault.hint)) from None
    except ValidationError:
        hint = f"Write --check {name or 'NAME'}='{{\"key\": value}}', or --check NAME alone."
        raise UsageError(Problem("usage.check", f"--check {word!r} has no JSON object after '='", hint=hint)) from None


def faults(held: Held, registry: Registry) -> list[Problem]:
    """What is wrong with checks that wait for the user's trust, so that he does not trust a file only to mend it."""
    try:
        overlay = read_overlay(held.value, held.file, ())
    except UsageError as error:
        return list(error.problems)
    found: list[Problem] = []
    for index, (_, check, _) in enumerate(overlay.checks):
        place, options = (Origin(held.file, (*held.pointer, index, key)) for key in ("scorer", "options"))
        try:
            registry.validated_options(registry.resolve(SCORERS, check.scorer), check.options, options)
        except PluginError as error:
            # What the check itself does not say may stand elsewhere in the file, and counts once that is trusted.
            said = (problem for problem in error.problems if problem.origin != options)
            found += (problem if problem.origin else replace(problem, origin=place) for problem in said)
    return found


def _problem(detail: ErrorDetails, check: Origin) -> Problem:
    """What to say of one fault that pydantic found in a check of the configuration."""
    key, *_ = detail["loc"]
    name, origin = str(key), Origin(check.file, (*check.pointer, key))
    if detail["type"] == "missing":
        return Problem("suite.missing-key", f"{name!r} is missing", origin=check)
    if detail["type"] == "extra_forbidden":
        known = tuple(OverlayCheck.model_fields)
        near = did_you_mean(name, known)
        hint = None if near else f"Use one of {', '.join(known)}."
        return Problem("suite.unknown-key", f"unknown key {name!r}{near}", origin=origin, hint=hint)
    wanted, found = "an object" if name == "options" else "text", json.dumps(detail["input"], default=str)
    return Problem("suite.wrong-type", f"{name!r} must be {wanted}, not {found}", origin=origin)
