"""JSON Schemas of eval.yaml and results.json, in our own words; those of the package skillevaluation are its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import JsonObject
from skillgauge.api.report import Outcome
from skillgauge_skillevaluation import RunVerdict

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: dict[str, Any] = {"type": "string", "pattern": r"\S"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_RATE: dict[str, Any] = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_DIMENSIONS = ("duration_ms", "turns", "tokens", "tool_calls")


def schemas() -> Mapping[str, JsonObject]:
    """Return the schemas that `skillgauge schema` prints."""
    return {"skillevaluation-eval": eval_schema(), "skillevaluation-results": results_schema()}


def _object(properties: dict[str, Any], *required: str, closed: bool = True) -> dict[str, Any]:
    more = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": properties, "required": list(required), **more}


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def eval_schema() -> dict[str, Any]:
    """eval.yaml, schema rev 2, as strictly as it is read; that names differ, a schema cannot say."""
    validator = _object(
        {
            "cmd": _TEXT | {"description": "Shell command, run in the agent's workspace."},
            "expect_exit_code": {"type": "integer", "minimum": 0, "maximum": 255, "default": 0},
            "label": {"type": "string"},
        },
        "cmd",
    )
    files = {"type": "object", "additionalProperties": {"type": "string"}, "propertyNames": {"pattern": r"^[^/\\]"}}
    case = _object(
        {
            "name": _TEXT,
            "prompt": _TEXT,
            "description": {"type": "string"},
            "setup": {"anyOf": [_list(_TEXT), _object({"files": files, "commands": _list(_TEXT)})]},
            "expectations": _list(_TEXT | {"description": "What a judge must find true of what the agent did."}),
            "validators": _list(validator),
            "max_turns": {"type": "integer", "minimum": 1},
            "should_trigger": {"type": "boolean"},
            "tags": _list(_TEXT),
        },
        "name",
        "prompt",
    )
    graders = [{"required": [key], "properties": {key: {"minItems": 1}}} for key in ("expectations", "validators")]
    case["anyOf"] = [*graders, {"required": ["should_trigger"]}]
    return {"$schema": _DRAFT, "title": "eval.yaml", **_object({"cases": _list(case, minItems=1)}, "cases")}


def results_schema() -> dict[str, Any]:
    """results.json. Where nothing was measured, averages are null, as the goldens have it."""
    number: dict[str, Any] = {"type": "number"}
    change = _object(
        {"with_skill_avg": number, "without_skill_avg": number, "delta_pct": {"type": ["number", "null"]}},
        "with_skill_avg",
        "without_skill_avg",
        "delta_pct",
    )
    rate = _object(
        {"with_skill": _RATE, "without_skill": _RATE, "delta_pts": {"type": ["number", "null"]}},
        "with_skill",
        "without_skill",
        "delta_pts",
    )
    counts = (
        "errors",
        "cases_aggregated",
        "cases_correctness_gated",
        "cases_skipped_apples_oranges",
        "total_cases",
        "cases_skipped_trigger_only",
        "cache_hits",
    )
    properties: dict[str, Any] = {
        "pass_rate": rate,
        **{name: {"anyOf": [change, {"type": "null"}]} for name in _DIMENSIONS},
        **{f"{name}_correctness_gated": change for name in _DIMENSIONS},
        **dict.fromkeys(counts, _COUNT),
        "error_dominated": {"type": "boolean"},
        "verdict": {"enum": [one.value for one in RunVerdict]},
        "runs": {"type": "integer", "minimum": 1},
        "cases": _list(_case_result()),
    }
    required = ("pass_rate", "errors", "cases_aggregated", "cases_skipped_apples_oranges", "total_cases")
    return {"$schema": _DRAFT, "title": "results.json", **_object(properties, *required, closed=False)}


def _case_result() -> dict[str, Any]:
    flags = ("passed", "task_attempted", "errored")
    measures = ("duration_ms", "turns", "total_tokens", "tool_call_count")
    boolean = {"type": "boolean"}
    arm = _object(dict.fromkeys(flags, boolean) | dict.fromkeys(measures, _COUNT), *flags, closed=False)
    expectation = _object(
        {"expectation": {"type": "string"}, "passed": boolean, "reason": {"type": "string", "minLength": 1}},
        "expectation",
        "passed",
        "reason",
        closed=False,
    )
    validator = _object({"label": {"type": "string"}, "passed": boolean}, "label", "passed", closed=False)
    properties = {
        "case_name": {"type": "string"},
        "outcome": {"enum": [one.value for one in Outcome]},
        "with_skill": arm,
        "without_skill": arm,
        "expectation_results": _list(expectation),
        "validator_results": _list(validator),
    }
    return _object(properties, "case_name", "outcome", closed=False)
