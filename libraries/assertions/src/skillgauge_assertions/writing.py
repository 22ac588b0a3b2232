"""Checks as assertions of promptfoo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from skillgauge.api import JsonObject, thaw

from .rules import FACTS

Written: TypeAlias = list[dict[str, Any]]
_NOT_JAVASCRIPT = ("\\A", "\\Z", "(?i)", "(?s)", "(?m)", "(?x)", "(?s:", "(?i:", "(?P", "*+", "++", "?+", "}+", "{e<")


def assertions(scorer: str, options: JsonObject) -> Written:
    """Return assertions that say the same; none if there is no such thing."""
    write = _WRITERS.get(scorer)
    return write(thaw(options)) if write is not None else []


def _exact(options: dict[str, Any]) -> Written:
    if not options.get("case_sensitive", True):
        return []
    return [{"type": "equals", "value": options["value"]}]


def _contains(options: dict[str, Any]) -> Written:
    words, no = options["keywords"], "not-" if options.get("absent") else ""
    if options.get("stream", "answer") != "answer" or not words or not all(words):
        return []
    loose = "" if options.get("case_sensitive") else "i"
    return [{"type": f"{no}{loose}contains", "value": word} for word in words]


def _regex(options: dict[str, Any]) -> Written:
    patterns, no = options["patterns"], "not-" if options.get("absent") else ""
    if not options.get("case_sensitive", True) or any(mark in one for one in patterns for mark in _NOT_JAVASCRIPT):
        return []
    return [{"type": f"{no}regex", "value": one} for one in patterns]


def _schema(options: dict[str, Any]) -> Written:
    no, kind = "not-" if options.get("absent") else "", "contains-json" if options.get("anywhere") else "is-json"
    schema = options["schema"]
    return [{"type": f"{no}{kind}", **({"value": schema} if schema else {})}]


def _tool(options: dict[str, Any]) -> Written:
    if not options.get("tool") or any(options.get(key) for key in ("words", "tool_pattern", "arguments")):
        return []
    return [{"type": f"{'' if options.get('called', True) else 'not-'}trajectory:tool-used", "value": options["tool"]}]


def _sequence(options: dict[str, Any]) -> Written:
    order = options.get("order", "in-order")
    if order == "any":
        kind = "skill-used" if options.get("skills") else "trajectory:tool-used"
        names = options.get("skills") or options.get("tools") or []
        return [{"type": kind, "value": names}] if len(set(names)) == len(names) else []
    if not options.get("tools"):
        return []
    mode = "exact" if order == "exact" else "in_order"
    return [{"type": "trajectory:tool-sequence", "value": {"mode": mode, "steps": options["tools"]}}]


def _trigger(options: dict[str, Any]) -> Written:
    if options.get("acceptable"):
        return []
    return [{"type": f"{'' if options.get('should_trigger', True) else 'not-'}skill-used", "value": options["skill"]}]


def _usage(options: dict[str, Any]) -> Written:
    written: Written = []
    for key, most in options.items():
        if most is None:
            continue
        if key == "duration_s":
            written.append({"type": "latency", "threshold": round(most * 1000, 6)})
        elif key == "cost_usd":
            written.append({"type": "cost", "threshold": most})
        elif key == "tool_calls":
            written.append({"type": "trajectory:step-count", "value": {"type": "tool", "max": most}})
        else:
            return []
    return written


def _rubric(options: dict[str, Any]) -> Written:
    criteria, reference = options.get("criteria") or options.get("claims"), options.get("reference")
    if criteria == FACTS and isinstance(reference, str):
        return [{"type": "factuality", "value": reference}]
    texts = [criteria] if isinstance(criteria, str) else list(criteria or ())
    more = f"\n\nAn answer that would be right: {reference}" if reference else ""
    limit = {"threshold": options.get("threshold", 0.5)} if options.get("scale") == "0-1" else {}
    return [{"type": "llm-rubric", "value": f"{text}{more}"} | limit for text in texts]


_WRITERS: Mapping[str, Callable[[dict[str, Any]], Written]] = {
    "exact": _exact,
    "contains": _contains,
    "regex": _regex,
    "json-schema": _schema,
    "tool-call": _tool,
    "sequence": _sequence,
    "trigger": _trigger,
    "usage": _usage,
    "rubric": _rubric,
}
