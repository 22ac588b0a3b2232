"""From checks to `expect`, rules, scripts and criteria: the way back of what the readers make of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from skillgauge.api import Case, Check, JsonValue, VerdictMode, thaw

from .drafts import CONTAINS, EXACT, FILES, REGEX, RUBRIC, TOOL_CALL
from .judges import mean_threshold
from .patterns import from_go, texts_of, to_go
from .rules import argument_of

Options = Mapping[str, JsonValue]
Entry = dict[str, Any]


_OF_CONDITION = {
    "contains_all": "must_contain_all",
    "contains_any": "must_contain_any",
    "not_contains": "must_not_contain",
}
"""Keys of a rule about the answer of a turn, and of its condition."""


class Rule(NamedTuple):
    """A check as a rule: one that has to hold, or one that may not; either may be missing."""

    success: Entry | None = None
    failure: Entry | None = None


def expected_entry(check: Check) -> tuple[str, list[Any]] | None:
    """Return the key of `expect` that says the same, with its items; `None` if there is none."""
    options = check.options
    if check.turn is not None:
        return None
    if check.scorer == CONTAINS and _is_literal(options):
        key = "must_not_contain" if options.get("absent") else "must_contain"
        return key, [*thaw(options["keywords"])]
    if check.scorer == EXACT and isinstance(options["value"], str) and options.get("case_sensitive", True):
        return "golden_file", [options["value"]]
    return _expected_file(options) if check.scorer == FILES else None


def _expected_file(options: Options) -> tuple[str, list[Any]] | None:
    if not _only(options, "path", "state", "contains") or _is_pattern(options):
        return None
    state, texts = options.get("state", "present"), thaw(options.get("contains", ()))
    if not texts:
        keys = {"present": "files_exist", "absent": "files_not_exist"}
        return (keys[str(state)], [options["path"]]) if state in keys else None
    if state != "present" or "" in texts:
        return None
    return "file_contains", [{"path": options["path"], "content": text} for text in texts]


def rule_of(check: Check) -> Rule | None:
    """Return the check as a rule; `None` if there is no rule that says the same."""
    make = _RULES.get(check.scorer)
    rule = make(check.options) if make is not None else None
    if rule is None or check.turn is None:
        return rule
    return _of_turn(rule, check.turn + 1)


def _of_turn(rule: Rule, turn: int) -> Rule | None:
    """Return a rule as one about a turn, from 1; `None` if there is none."""
    success, failure = (_entry_of_turn(entry, turn) if entry else None for entry in rule)
    return Rule(success, failure) if success or failure else None


def _entry_of_turn(entry: Entry, turn: int) -> Entry | None:
    (kind, said), *_ = entry.items()
    if kind == "tool_called":
        return {"tool_called_in_turn": {"turn": turn, **said}}
    if kind != "output_contains":
        return None
    if "not" in said:
        return {"turn_response_not_contains": {"turn": turn, "not_contains": said["not"]}}
    return {"turn_response_contains": {"turn": turn, **{f"contains_{key}": texts for key, texts in said.items()}}}


def condition_of(check: Check) -> tuple[str, list[str]] | None:
    """Return the key of a turn's condition that says the same, with its texts; `None` if there is none."""
    rule = rule_of(check) if check.required and check.turn is not None else None
    entry = rule.success if rule is not None else None
    if entry is None:
        return None
    (said,) = entry.values()
    return next(((key, said[name]) for name, key in _OF_CONDITION.items() if name in said), None)


def criteria_of(check: Check) -> list[str] | None:
    """Return the check as criteria of a judge; `None` if a judge of skill-up could not be asked this."""
    options = check.options
    if check.scorer != RUBRIC or check.turn is not None:
        return None
    if not _only(options, "claims", "criteria", "model", "scale"):
        return None
    if options.get("scale") not in (None, "pass-fail"):
        return None
    texts = thaw(options.get("claims") or options.get("criteria"))
    return texts if isinstance(texts, list) else [texts]


def script_text(check: Check) -> str | None:
    """Return a script for a command that skill-up did not write; `None` if its verdict is no exit code."""
    options = check.options
    if options.get("reads", "exit-code") != "exit-code":
        return None
    code = options.get("expect_exit_code", 0)
    command = str(options["command"])
    ending = f"( {command}\n)\n[ $? -eq {code} ]" if code else command
    return (
        "#!/bin/sh\nRESPONSE_TEXT=$EVAL_FINAL_MESSAGE\nexport RESPONSE_TEXT\n"
        f'printf %s "$EVAL_FINAL_MESSAGE" > response.txt\n{ending}\n'
    )


def is_exact(check: Check) -> bool:
    """Tell whether the patterns of a check are read again as they are."""
    patterns = check.options.get("patterns", ()) if check.scorer == REGEX else ()
    assert isinstance(patterns, tuple)
    return all(from_go(to_go(str(pattern)) or "") == pattern for pattern in patterns)


class Lenience(NamedTuple):
    """Some criteria of a case of which not all have to hold."""

    share: float
    """That has to hold."""
    ids: frozenset[str]
    """Of their checks."""


def lenience_of(case: Case, checks: list[Check]) -> Lenience | None:
    """Return the share of criteria that has to hold by the rule of a case; `None` if the rule is another one."""
    criteria = [check for check in checks if check.scorer == RUBRIC and check.weight == 1]
    strict = [check for check in checks if check not in criteria]
    if case.rule.mode is not VerdictMode.MEAN or case.rule.above:
        return None
    if not criteria or any(len(criteria_of(check) or ()) != 1 for check in criteria):
        return None
    share = _share(case.rule.threshold, len(criteria), [check.weight for check in strict])
    return Lenience(share, frozenset(check.id for check in criteria)) if share is not None else None


def _share(threshold: float, criteria_count: int, strict_weights: list[float]) -> float | None:
    """Return the share of criteria that has to hold beside strict checks; `None` if the mean is not made like that."""
    if not strict_weights:
        return threshold
    if set(strict_weights) != {2.0 * criteria_count}:
        return None
    for least in range(criteria_count):
        if mean_threshold(len(strict_weights), criteria_count, least) == threshold:
            return least / criteria_count
    return None


def _contains(options: Options) -> Rule | None:
    texts: list[str] = thaw(options["keywords"])
    if not _is_literal(options):
        if not _only(options, "keywords", "case_sensitive", "absent", "stream") or not texts or "" in texts:
            return None
        if options.get("stream", "answer") != "answer":
            return None
        patterns = tuple(f"(?i){re.escape(text)}" for text in texts)
        return _regex({"patterns": patterns, "absent": options.get("absent", False)})
    return _rule("output_contains", texts, is_absent=bool(options.get("absent")))


def _regex(options: Options) -> Rule | None:
    if not _only(options, "patterns", "case_sensitive", "absent", "timeout_s"):
        return None
    patterns: list[str] = thaw(options["patterns"])
    if not options.get("case_sensitive", True):
        patterns = [f"(?i){pattern}" for pattern in patterns]
    texts = texts_of(patterns[0]) if len(patterns) == 1 else ()
    if texts and not options.get("absent"):
        return Rule(success={"output_contains": {"any": list(texts)}})
    written = [text for pattern in patterns if (text := to_go(pattern)) is not None]
    if len(written) < len(patterns):
        return None
    return _rule("output_matches", written, is_absent=bool(options.get("absent")))


def _rule(key: str, texts: list[str], *, is_absent: bool) -> Rule:
    if is_absent:
        return Rule(success={key: {"not": texts}}, failure={key: {"any": texts}})
    return Rule(success={key: {"all": texts}})


def _files(options: Options) -> Rule | None:
    state = options.get("state", "present")
    if not _only(options, "path", "state") or _is_pattern(options) or state not in ("present", "absent"):
        return None
    paths = [options["path"]]
    if state == "present":
        return Rule(success={"files_exist": paths})
    return Rule(success={"files_not_exist": paths}, failure={"files_exist": paths})


def _tool_call(options: Options) -> Rule | None:
    if not _only(options, "tool", "arguments", "called") or options.get("tool") is None:
        return None
    call: Entry = {"name": options["tool"]}
    arguments: dict[str, str] = thaw(options.get("arguments") or {})
    if arguments:
        call["args"] = {name: argument_of(pattern) for name, pattern in arguments.items()}
        if None in call["args"].values():
            return None
    entry = {"tool_called": call}
    return Rule(success=entry) if options.get("called", True) else Rule(failure=entry)


_RULES: dict[str, Callable[[Options], Rule | None]] = {
    CONTAINS: _contains,
    REGEX: _regex,
    FILES: _files,
    TOOL_CALL: _tool_call,
}


def _only(options: Options, *known: str) -> bool:
    """Tell whether nothing is asked that could not be written."""
    return not options.keys() - set(known)


def _is_literal(options: Options) -> bool:
    """Tell whether texts are looked for in the answer as they are, upper and lower case included."""
    return (
        _only(options, "keywords", "case_sensitive", "absent", "stream")
        and options.get("stream", "answer") == "answer"
        and bool(options.get("case_sensitive"))
        and bool(options["keywords"])
        and "" not in thaw(options["keywords"])
    )


def _is_pattern(options: Options) -> bool:
    path = str(options["path"])
    return path.endswith("/") or any(sign in path for sign in "*?[")
