"""Assertions that name a type: the check that decides each, or the judge whose they are."""

from __future__ import annotations

import re
import shlex
from typing import Any, cast

from skillgauge.api import JsonObject, JsonValue

from .rules import COMMAND, EVERYWHERE, RULES, Given, Made, Rule, command_made, nowhere

GRANTED = "exit-success"
"""A session that does not end as it should has no verdict, so that there is nothing to decide."""
JUDGED = frozenset(
    {
        "semantic",
        "llm",
        "llm-rubric",
        "llm-judge",
        "llm-as-judge",
        "rubric",
        "judge",
        "model-graded",
        "model-graded-closedqa",
        "g-eval",
        "factuality",
        "manual",
        "human",
        "text",
        "qualitative",
        "quality",
        "behavior",
        "behaviour",
        "criteria",
    }
)
"""Types that say by their name that a judge decides."""

_TURNS = frozenset({"min", "max", "at_least", "at_most", "times", "scope", "not"})
"""Keys that change what a type means in a way that no rule here follows."""
_COUNTS = ("min_count", "max_count", "count")
_COUNTED = {"code-count": "code-contains", "count": "contains", "regex-count": "regex"}
"""The type whose value is counted, by a type that says so by its name."""
_COUNTABLE = (RULES["contains"], RULES["regex"], RULES["code-contains"])
_ANY_JSON = ("is-json", "json", "valid-json")
"""Types that need no value."""
_NEGATE = ("negate", "negated", "invert")
_ANSWER = (None, "output", "response", "answer")
"""What `target` may say of an assertion about what was answered."""
_UNDERSTOOD = frozenset(
    {
        *("type", "check", "case_sensitive", "flags", "target", *_NEGATE),
        *("expect_exit_code", "expect_exit", "fail_codes", "reads", "needs", "timeout_s"),
    }
)
VALUE_KEYS = frozenset({key for rule in RULES.values() for key in rule.keys}) - {"check", "expected", "content", "code"}
"""Keys under which an assertion has something for a program."""


def kind_of(raw: JsonObject) -> str:
    """The type of an assertion in the spelling of the table; empty if it has none."""
    kind = raw.get("type")
    if isinstance(kind, str):
        return _spelled(kind)
    check = raw.get("check")
    if isinstance(check, str) and _spelled(check) in RULES and not VALUE_KEYS.isdisjoint(raw):
        return _spelled(check)
    bare = (("cmd", COMMAND), ("command", COMMAND), ("regex", "regex"))
    return next((plain for key, plain in bare if raw.get(key) and kind is None), "")


def _spelled(kind: str) -> str:
    return kind.strip().lower().replace("_", "-").replace(" ", "-")


def made_of(raw: JsonObject) -> tuple[Made, frozenset[str]] | None:
    """Return the check that decides an assertion, with the keys that it rests on; `None` if that is a judge."""
    if raw.get("target") not in _ANSWER:
        return None
    if any(name in raw for name in _COUNTS):
        return _counted(raw)
    if _TURNS & raw.keys():
        return None
    rule = _rule_of(raw)
    return _decided(rule, raw) if rule is not None else None


def _rule_of(raw: JsonObject) -> Rule | None:
    """The rule for the type of an assertion, or for the contrary of it if it is negated."""
    rule = RULES.get(kind_of(raw))
    if rule is not None and any(raw.get(key) is True for key in _NEGATE):
        return RULES.get(rule.opposite)
    return rule


def _decided(rule: Rule, raw: JsonObject) -> tuple[Made, frozenset[str]] | None:
    key = _value_key(rule, raw)
    path_key = _path_key(rule, raw, key)
    decision = _decision(rule, raw, key)
    if rule.needs_path and not path_key:
        return None
    if decision is not None and path_key:
        decision = _of_file(decision, raw[path_key])
    return (decision, _UNDERSTOOD | {key, path_key}) if decision is not None else None


def _value_key(rule: Rule, raw: JsonObject) -> str:
    """The key under which an assertion has its value; empty if it has none."""
    return next((key for key in rule.keys if raw.get(key) is not None), "")


def _path_key(rule: Rule, raw: JsonObject, value_key: str) -> str:
    """The key under which an assertion names the file that it looks into; empty if it is about the answer."""
    if not rule.about_text:
        return ""
    return next((key for key in ("path", "file") if key in raw and key != value_key), "")


def _decision(rule: Rule, raw: JsonObject, key: str) -> Made | None:
    """The check by a rule of the value under a key; without one only a type can be decided that needs none."""
    if key:
        return rule.make(Given(raw[key], key, strict=_is_strict(raw)))
    if kind_of(raw) in _ANY_JSON:
        return rule.make(Given({}, key, strict=_is_strict(raw)))
    return None


def _counted(raw: JsonObject) -> tuple[Made, frozenset[str]] | None:
    """A text or pattern that has to be there so many times."""
    kind = kind_of(raw)
    rule = RULES.get(_COUNTED.get(kind, kind))
    times = _times(raw)
    if rule not in _COUNTABLE or times is None:
        return None
    key = _value_key(rule, raw)
    value = Given(raw.get(key), key, strict=_is_strict(raw))
    if len(value.texts) != 1:
        return None
    text = value.texts[0]
    if rule == RULES["code-contains"]:
        decision = _times_in_code(text, *times, is_strict=value.strict)
    else:
        pattern = text if rule == RULES["regex"] or value.is_pattern else re.escape(text)
        decision = _times_in_answer(pattern, *times, is_strict=value.strict)
    return decision, _UNDERSTOOD | {key, *(name for name in _COUNTS if name in raw)}


def _times(raw: JsonObject) -> tuple[int, int | None] | None:
    """The least and the most times that an assertion asks for; `None` if one is no whole number from 0."""
    values = {name: raw[name] for name in _COUNTS if name in raw}
    numbers = {name: value for name, value in values.items() if type(value) is int and value >= 0}
    if len(numbers) < len(values):
        return None
    return numbers.get("min_count", numbers.get("count", 0)), numbers.get("max_count", numbers.get("count"))


def _times_in_code(text: str, least: int, most: int | None, *, is_strict: bool) -> Made:
    flags = "roF" if is_strict else "roFi"
    script = f"n=$(grep -{flags} {EVERYWHERE} {shlex.quote(text)} . | wc -l)"
    upper = f' && [ "$n" -le {most} ]' if most is not None else ""
    return command_made(f'{script}; [ "$n" -ge {least} ]{upper}')


def _times_in_answer(pattern: str, least: int, most: int | None, *, is_strict: bool) -> Made:
    patterns = [rf"(?s)\A(?:.*?(?:{pattern})){{{least}}}"]
    if most is not None:
        patterns.append(rf"(?s)\A(?!(?:.*?(?:{pattern})){{{most + 1}}})")
    return "regex", {"patterns": tuple(patterns), "case_sensitive": is_strict}


def _is_strict(raw: JsonObject) -> bool:
    flags = raw.get("flags")
    return raw.get("case_sensitive") is not False and not (isinstance(flags, str) and "i" in flags)


def _of_file(rule: Made, path: JsonValue) -> Made | None:
    """The same asked of a file in place of the answer."""
    scorer, options = rule
    if not isinstance(path, str) or not path:
        return None
    if "absent" not in options:
        sought: dict[str, Any] = {"contains" if scorer == "contains" else "patterns": next(iter(options.values()))}
    elif scorer == "contains":
        sought = {"lacks": options["keywords"]}
    else:
        sought = {"patterns": tuple(map(nowhere, cast("tuple[str, ...]", options["patterns"])))}
    return "files", {"path": path, "state": "present", **sought, "case_sensitive": options["case_sensitive"]}
