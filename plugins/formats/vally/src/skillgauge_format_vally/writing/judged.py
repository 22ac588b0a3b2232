"""From checks of a judge to the rubric of a stimulus and graders of type prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import Check, text_of, thaw

from ..checks.rubrics import criterion, rubric_of

_KEYS = frozenset({"claims", "criteria", "scale", "threshold", "model", "reference"})
_BINARY = "binary"


@dataclass
class Judged:
    """The judged part of a stimulus."""

    rubric: list[str] = field(default_factory=list)
    configs: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    """Of the graders, by the ids of the checks; `None` for what cannot be written."""
    merged: tuple[str, ...] = ()
    """Ids of the checks whose claims went into the rubric of another."""
    changed: tuple[str, ...] = ()
    """Ids of the checks that become one criterion."""


def judged(checks: Sequence[Check], *, averages: bool) -> Judged:
    """Return the graders of all checks of a judge that a stimulus has.

    Args:
        checks: those checks.
        averages: whether the mean of values decides, so that claims would count by their share.
    """
    options = {check.id: {key: thaw(value) for key, value in check.options.items()} for check in checks}
    sayable = {name: one for name, one in options.items() if _is_sayable(one)}
    result = Judged(configs=dict.fromkeys(options))
    if len(sayable) == 1:
        (name, only), *_ = sayable.items()
        result.rubric, result.configs[name] = _alone(only, averages=averages)
        if result.configs[name] is not None:
            return result
        result.rubric = []
    elif sayable and not averages and _are_like_claims(list(sayable.values())):
        first, *others = sayable
        result.rubric = [claim for one in sayable.values() for claim in one["claims"]]
        result.configs[first] = {"scoring": _BINARY, **_model(sayable[first])}
        result.merged = tuple(others)
        return result
    for name, asserted in sayable.items():
        result.configs[name] = _as_text(asserted)
    result.changed = tuple(name for name, one in sayable.items() if _text(one) != one.get("criteria"))
    return result


def _is_sayable(options: dict[str, Any]) -> bool:
    return not options.keys() - _KEYS and options.get("scale") != "0-10"


def _are_like_claims(options: Sequence[dict[str, Any]]) -> bool:
    """Tell whether there are nothing but claims, all of them for the same model."""
    plain = all(one.get("claims") and one.keys() <= {"claims", "model"} for one in options)
    return plain and len({one.get("model") for one in options}) == 1


def _alone(options: dict[str, Any], *, averages: bool) -> tuple[list[str], dict[str, Any] | None]:
    """Return rubric and grader of the only check of a judge; `None` if it has to become one text."""
    if options.get("reference") is not None:
        return [], None
    criteria, claims = options.get("criteria"), options.get("claims")
    if isinstance(criteria, str):
        rubric = rubric_of(criteria)
        if rubric and (averages or _is_scaled(options)):
            return rubric, {**_scoring(options), **_model(options)}
        return [], _as_text(options)
    if averages:
        return [], None
    if claims:
        return list(claims), {"scoring": _BINARY, **_model(options)}
    first, *rest = criteria or [""]
    return (rest, {"prompt": first, "scoring": _BINARY, **_model(options)}) if rest else ([], None)


def _as_text(options: dict[str, Any]) -> dict[str, Any]:
    return {"prompt": _text(options), **_scoring(options), **_model(options)}


def _text(options: dict[str, Any]) -> str:
    """Return one criterion for all that a check says."""
    criteria = options.get("criteria")
    text = criteria if isinstance(criteria, str) else criterion(None, criteria or options["claims"])
    if options.get("reference") is None:
        return text
    return f"{text}\n\nAn output that would be right:\n{text_of(options['reference'])}"


def _is_scaled(options: dict[str, Any]) -> bool:
    return options.get("scale") == "0-1"


def _scoring(options: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that say how a judge answers; Vally's own default is a scale with the threshold 0.5."""
    if not _is_scaled(options):
        return {"scoring": _BINARY}
    threshold = options.get("threshold", 0.5)
    return {} if threshold == 0.5 else {"threshold": threshold}


def _model(options: dict[str, Any]) -> dict[str, Any]:
    return {"model": options["model"]} if options.get("model") else {}
