"""From checks to graders: what `graders` makes of a grader, and what checks of other formats say in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skillgauge.api import Check, JsonValue, text_of, thaw
from skillgauge_patterns import folded

from .commands import ANSWER, SHELL, assertions_of, program_of, shell_program
from .graders import FOLDED
from .patterns import forbidden

Config = dict[str, Any]
FILES, SNAPSHOTS = "files", "snapshots"
_TIMEOUT_S = 30
_MODES = {"exact": "exact_match", "in-order": "in_order_match", "any": "any_order_match"}
_SKILL_MODES = {"exact": "exact_match", "in-order": "in_order", "any": "any_order"}


def grader(check: Check, snapshots: dict[str, str]) -> dict[str, Any] | None:
    """A check as a grader; `None` if there is none that means the same.

    Args:
        check: the check.
        snapshots: takes the files that the grader compares with, text by path.
    """
    make = _SCORERS.get(check.scorer)
    options = {key: thaw(value) for key, value in check.options.items()}
    if check.weight <= 0 or (make is None and check.scorer != FILES):
        return None
    grader_ = make(options) if make is not None else _files(options, snapshots)
    if grader_ is None:
        return None
    kind, config = grader_
    return (
        {"type": kind, "name": check.id} | ({} if check.weight == 1 else {"weight": check.weight}) | {"config": config}
    )


def _only(options: Mapping[str, JsonValue], *known: str) -> bool:
    """Tell whether nothing is asked that could not be written."""
    return not options.keys() - set(known)


def _contains(options: Config) -> tuple[str, Config] | None:
    if (
        not _only(options, "keywords", "case_sensitive", "absent", "stream")
        or options.get("stream", "answer") != "answer"
    ):
        return None
    key = "not_contains" if options.get("absent") else "contains"
    return "text", {f"{key}_cs" if options.get("case_sensitive") else key: options["keywords"]}


def _regex(options: Config) -> tuple[str, Config] | None:
    if not _only(options, "patterns", "case_sensitive", "absent", "timeout_s"):
        return None
    patterns = options["patterns"]
    if not options.get("case_sensitive", True):
        patterns = [folded(one) for one in patterns]
    return "text", {"regex_not_match" if options.get("absent") else "regex_match": patterns}


def _command(options: Config) -> tuple[str, Config] | None:
    command = options["command"]
    if (assertions := assertions_of(command)) is not None:
        return "code", {"assertions": list(assertions)}
    limit = {"timeout": max(1, round(options["timeout_s"]))} if "timeout_s" in options else {}
    if (words := program_of(command)) is not None:
        return "program", {"command": words[0], "args": list(words[1:])} | limit
    if options.get("reads", "exit-code") != "exit-code" or ANSWER in command or "RESPONSE_TEXT" in command:
        return None
    inner = shell_program(command, options.get("expect_exit_code", 0))
    return "program", {"command": SHELL, "args": ["-c", inner]} | limit


def _files(options: Config, snapshots: dict[str, str]) -> tuple[str, Config] | None:
    path, state, patterns = options["path"], options.get("state", "present"), options.get("patterns")
    if not _only(options, "path", "state", "contains", "lacks", "equals", "patterns") or _is_pattern(path):
        return None
    if state == "absent":
        return "file", {"must_not_exist": [path]}
    if state != "present":
        return None
    if _compares(options):
        return None if patterns else _difference(options, snapshots)
    if not patterns:
        return "file", {"must_exist": [path]}
    return "file", {"content_patterns": [_content_patterns(path, patterns)]}


def _is_pattern(path: str) -> bool:
    return any(wildcard in path for wildcard in "*?[")


def _compares(options: Config) -> bool:
    """Tell whether a file is compared with texts, whole or in part."""
    return options.get("equals") is not None or bool(options.get("contains") or options.get("lacks"))


def _difference(options: Config, snapshots: dict[str, str]) -> tuple[str, Config] | None:
    """A grader that compares a file with texts; `None` if blanks at their ends matter, which it does not see."""
    present, absent = options.get("contains", ()), options.get("lacks", ())
    if any(fragment != fragment.strip() for fragment in (*present, *absent)):
        return None
    expected_file: Config = {"path": options["path"]}
    if options.get("equals") is not None:
        place = f"{SNAPSHOTS}/{len(snapshots) + 1}/{options['path']}"
        snapshots[place] = options["equals"]
        expected_file["snapshot"] = place
    signed = [*(f"+{fragment}" for fragment in present), *(f"-{fragment}" for fragment in absent)]
    if signed:
        expected_file["contains"] = signed
    return "diff", {"expected_files": [expected_file]}


def _content_patterns(path: str, patterns: Sequence[str]) -> Config:
    """Patterns that a file's content has to match, and those that it must not match."""
    content: Config = {"path": path}
    required = [pattern for pattern in patterns if forbidden(pattern) is None]
    excluded = [plain for pattern in patterns if (plain := forbidden(pattern)) is not None]
    if required:
        content["must_match"] = required
    if excluded:
        content["must_not_match"] = excluded
    return content


def _json_schema(options: Config) -> tuple[str, Config] | None:
    return ("json_schema", {"schema": options["schema"]}) if _only(options, "schema", "timeout_s") else None


def _usage(options: Config) -> tuple[str, Config] | None:
    if not _only(options, "tool_calls", "tokens", "duration_s"):
        return None
    if options.get("tool_calls") == 0 and len(options) == 1:
        return "code", {"assertions": ["len(tool_calls) <= 0"]}
    keys = {"tool_calls": "max_tool_calls", "tokens": "max_tokens"}
    config: Config = {keys[key]: value for key, value in options.items() if key in keys}
    if "duration_s" in options:
        config["max_duration_ms"] = round(options["duration_s"] * 1000)
    return ("behavior", config) if all(config.values()) else None


def _tool_call(options: Config) -> tuple[str, Config] | None:
    called = options.get("called", True)
    if _only(options, "tool", "called") and "tool" in options:
        return "behavior", {"required_tools" if called else "forbidden_tools": [options["tool"]]}
    arguments = options.get("arguments") or {}
    if not _only(options, "tool_pattern", "arguments", "called") or "tool_pattern" not in options:
        return None
    if arguments.keys() - {"command", "skill", "path"} or not all(one.startswith(FOLDED) for one in arguments.values()):
        return None
    call = {"tool": options["tool_pattern"]}
    call |= {f"{name}_pattern": one.removeprefix(FOLDED) for name, one in arguments.items()}
    return "tool_constraint", {"expect_tools" if called else "reject_tools": [call]}


def _sequence(options: Config) -> tuple[str, Config] | None:
    order = options.get("order", "in-order")
    if options.get("skills"):
        return "skill_invocation", {"mode": _SKILL_MODES[order], "required_skills": options["skills"]}
    return "action_sequence", {"matching_mode": _MODES[order], "expected_actions": options["tools"]}


def _rubric(options: Config) -> tuple[str, Config] | None:
    known = ("criteria", "claims", "model", "scale", "reference")
    if not _only(options, *known) or options.get("scale", "pass-fail") != "pass-fail":
        return None
    criteria = options.get("criteria") or options.get("claims")
    text = "\n".join(criteria) if isinstance(criteria, list) else criteria
    if options.get("reference") is not None:  # a grader has no place of its own for it
        text = f"{text}\n\nAn output that would be right:\n{text_of(options['reference'])}"
    return "prompt", {"prompt": text} | ({"model": options["model"]} if options.get("model") else {})


_SCORERS: dict[str, Callable[[Config], tuple[str, Config] | None]] = {
    "contains": _contains,
    "regex": _regex,
    "command": _command,
    "json-schema": _json_schema,
    "usage": _usage,
    "tool-call": _tool_call,
    "sequence": _sequence,
    "rubric": _rubric,
}


def expected(checks: tuple[Check, ...], skill: str) -> Iterator[tuple[Check, dict[str, Any]]]:
    """Checks that a task says by `expected`, which no grader could say."""
    for check in checks:
        if check.scorer == "trigger" and check.beside and check.options.get("skill") == skill:
            yield check, {"should_trigger": check.options.get("should_trigger", True)}
        elif check.scorer == "usage" and check.options.keys() == {"turns"} and check.options["turns"]:
            yield check, {"behavior": {"max_iterations": check.options["turns"]}}
