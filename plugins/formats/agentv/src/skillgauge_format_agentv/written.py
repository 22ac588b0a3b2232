"""From a check to the assertions that say the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skillgauge.api import Check, FileSpec, JsonObject, thaw
from skillgauge_assertions import Given, assertions, effective, program_assertion
from skillgauge_patterns import alternatives

from .graders import ENDS, FOLDS, ends_of

COMMAND = "command"
_METRICS = {
    "tool_calls": "max_tool_calls",
    "turns": "max_llm_calls",
    "tokens": "max_tokens",
    "cost_usd": "max_cost_usd",
    "duration_s": "max_duration_ms",
}
_UNITS = {"duration_s": 1000}
_SAME = (
    *("equals", "contains", "icontains", "regex", "is-json", "skill-used", "llm-rubric"),
    *("contains-any", "icontains-any", "contains-all", "icontains-all"),
    *("trajectory:tool-used", "trajectory:tool-args-match", "trajectory:tool-sequence", "trajectory:step-count"),
)
"""Types that mean the same as with promptfoo."""


def written_assertions(check: Check, files: Sequence[FileSpec]) -> list[Any]:
    """Return assertions that say the same as a check; a claim is a text.

    Args:
        check: what is asserted.
        files: what graders are given, with the programs of assertions among them.
    """
    options = thaw(check.options)
    if check.scorer == "rubric" and options.keys() == {"claims"}:
        return list(options["claims"])
    if check.scorer == "usage" and check.options.keys() <= _METRICS.keys():
        limits = {_METRICS[key]: round(value * _UNITS.get(key, 1), 6) for key, value in options.items()}
        return [{"type": "execution-metrics", **limits}]
    if check.scorer == COMMAND:
        code = program_assertion(check.options, files)
        return [code[0]] if code is not None else []
    if check.scorer == "regex" and (own := _pattern(check.options)) is not None:
        return [own]
    written = assertions(check.scorer, check.options)
    return written if all(one["type"].removeprefix("not-") in _SAME for one in written) else []


def _pattern(options: JsonObject) -> dict[str, Any] | None:
    """Return a pattern in the words of agentv alone: one of an end of the answer, or with flags."""
    told = effective("regex", options)
    patterns = thaw(told["patterns"])
    if len(patterns) != 1 or told.keys() - {"patterns", "absent", "case_sensitive"}:
        return None
    no = "not-" if told.get("absent") else ""
    text = re.sub(r"^\\A\\s\*|\\s\*\\Z$", "", patterns[0])
    for kind in ENDS if len(alternatives(text)) == 1 else ():
        given = Given(kind, bool(no), alternatives(text)[0], None)
        if effective(*ends_of(given)) == told:
            return {"type": f"{no}{kind}", "value": given.value}
    if told.get("case_sensitive", True) or len(alternatives(patterns[0])) > 1:
        return None
    written = assertions("regex", {**_without(told), "absent": bool(no)})
    return {**written[0], "flags": FOLDS} if len(written) == 1 and written[0]["type"].endswith("regex") else None


def _without(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key != "case_sensitive"}
