"""The meaning of keys of evals that neither skill-creator nor agentskills.io has; docs/dialects.md shows the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from skillgauge.api import JsonValue


class Use(StrEnum):
    """The use of a key; the value is the wording of a notice."""

    CLAIMS = "each item is an assertion"
    REFUTED = "each item is a claim that it is not so"
    SECTIONS = "each item is a claim that there is such a section"
    SOUGHT = "each item is looked for in the answer"
    EXCLUDED = "no item may be in the answer"
    TOOLS = "each item is a tool that has to be called"
    NO_TOOLS = "each item is a tool that may not be called"
    CALLED = "a figure beside the verdict tells whether it was used"
    SETUP = "is done before the session"
    BASELINE = "is asked in place of the prompt where the skill is absent"
    TAG = "becomes a tag"
    RULE = "decides how it counts"
    CASE = "upper and lower case differ"
    GRANTED = "holds of every session with a verdict"
    PEOPLE = "kept for people"
    NONE = "without effect"


NAMES: Mapping[str, tuple[str, ...]] = {
    "prompt": ("query", "input", "question", "task", "user_prompt", "user_query"),
    "expected_output": (
        "expected",
        "expected_behavior",
        "expected_behaviour",
        "expectedOutput",
        "expected_response",
        "expected_result",
        "expected_answer",
        "ground_truth",
    ),
    "name": ("eval_name", "title"),
    "description": ("intent", "scenario"),
    "threshold": ("pass_threshold",),
    "should_trigger": ("expect_activation", "should_activate", "should_fire"),
    "timeout_s": ("timeout", "timeout_seconds"),
}
"""Other names of a key, which count where the key itself is absent; of lists see `KEYS`."""
OTHER_NAMES = {other: preferred for preferred, others in NAMES.items() for other in others}

KEYS: Mapping[str, Use] = {
    **dict.fromkeys(
        (
            "expected_behavior",
            "expected_behaviour",
            "expected_behaviors",
            "expected_behaviours",
            "expect",
            "expected_coverage",
            "success_criteria",
            "acceptance_criteria",
            "evaluation_criteria",
            "criteria",
            "rubric",
            "checks",
            "deterministic_assertions",
            "validators",
        ),
        Use.CLAIMS,
    ),
    **dict.fromkeys(
        ("fail", "must_not", "should_not", "forbidden", "forbidden_behaviors", "not_expected"), Use.REFUTED
    ),
    "required_output_sections": Use.SECTIONS,
    "expect_tools": Use.TOOLS,
    "reject_tools": Use.NO_TOOLS,
    **dict.fromkeys(("must_have", "must_contain", "must_include"), Use.SOUGHT),
    **dict.fromkeys(("must_not_have", "must_not_contain", "must_not_include"), Use.EXCLUDED),
    **dict.fromkeys(("expected_script", "expected_references"), Use.CALLED),
    "prompt_baseline": Use.BASELINE,
    **dict.fromkeys(
        ("category", "split", "case_set", "kind", "area", "role", "difficulty", "priority", "scenario_type"), Use.TAG
    ),
    **dict.fromkeys(
        (
            "notes",
            "note",
            "comment",
            "rationale",
            "reason",
            "confidence",
            "source_url",
            "source_page",
            "failure_mode",
            "critical",
            "manual_review_expected",
            "hints",
        ),
        Use.PEOPLE,
    ),
}
"""Keys of an eval, beside those of `EvalFile`. Where one is in `NAMES`, too, a text goes there, and a list is this."""

ASSERTION_KEYS: Mapping[str, Use] = {
    **dict.fromkeys(("weight", "critical", "required", "optional", "threshold"), Use.RULE),
    **dict.fromkeys(
        (
            "id",
            "name",
            "kind",
            "category",
            "dimension",
            "severity",
            "priority",
            "notes",
            "rationale",
            "discriminating",
            "why_kept",
            "passed",
            "evidence",
        ),
        Use.PEOPLE,
    ),
    **dict.fromkeys(("provider", "model"), Use.NONE),
}
"""Keys of an assertion, beside its text, its type and its value."""

FILE_KEYS: Mapping[str, Use] = {
    **dict.fromkeys(("threshold", "pass_threshold"), Use.RULE),
    **dict.fromkeys(
        ("version", "schema_version", "$schema", "description", "notes", "note", "updated", "method"), Use.PEOPLE
    ),
}
"""Keys of the object around the evals."""

BEARS_CHECKS = (
    "assertions",
    "expectations",
    "expected_output",
    "expected_skill",
    "should_trigger",
    "acceptable_skills",
    "prompt",
    "prompt_baseline",
    "threshold",
    "files",
    *(key for key, use in KEYS.items() if use in (Use.CLAIMS, Use.REFUTED, Use.SOUGHT, Use.EXCLUDED) and len(key) > 6),
)
"""Keys of an eval that nobody may misspell: what they say would not be checked."""
SAYS_CHECK = ("type", "value", "pattern", "phrase", "command", "assertion", "expectation", "description", "threshold")
"""The same of an assertion."""
_NEAR = 0.86
"""Share of letters that a misspelt key has in common with the right one; `expected_outcomes` has less of any."""


def snake_case(key: str) -> str:
    """Return a key as the formats spell it: `expectedBehavior` is `expected_behavior`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower() if key != key.lower() else key


def near_miss(key: str, bearing: tuple[str, ...]) -> str:
    """The key that bears checks and is meant by one that is nearly the same; empty if there is none."""
    from difflib import get_close_matches  # noqa: PLC0415 - most files have no unknown key

    plain = key.lower().replace("-", "_")
    near = get_close_matches(plain, bearing, n=1, cutoff=_NEAR)
    return near[0] if near else ""


def listed(value: JsonValue) -> tuple[JsonValue, ...]:
    """The items of a list, of an object of texts, or one text alone."""
    if isinstance(value, Mapping):
        return tuple(value.values())
    return value if isinstance(value, tuple) else (value,)
