"""From checks to graders: what `checks` makes of a grader, and what checks of other formats say in the same words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from skillgauge.api import Check, JsonValue, thaw

from ..checks.calls import EXPECTED, REJECTED
from ..checks.commands import no_file_demand, output_demand
from ..checks.making import ANSWERED
from ..checks.tools import PLAIN, alike, copilot_name
from ..skills import SKILL_TOOL
from ..source.durations import duration_text
from ..source.patterns import JAVASCRIPT, forbidden, javascript_of, written_of

Config = dict[str, Any]
_OF_ANSWERS = re.compile(r"response\.txt|RESPONSE_TEXT")
"""What commands are given here and not in Vally."""
_OTHER_WILDCARDS = re.compile(r"[\[\]{}]")


class Words(NamedTuple):
    """A grader, or a constraint, without a name."""

    kind: str
    """Type of the grader, or key of the constraint."""
    config: Config | str
    note: str = ""
    """The difference that it makes, if any."""


def words_of(check: Check, candidate: str) -> list[Words]:
    """Return the graders that say together what a check says; empty if there are none.

    Args:
        check: the check, of any scorer but that of judges.
        candidate: name of the skill under test.
    """
    options = {key: thaw(value) for key, value in check.options.items()}
    if check.scorer == "trigger":
        return list(_trigger(options, candidate))
    if check.scorer == "tool-call" and (constraint := _constraint(options, check.id)) is not None:
        return [constraint]
    make = _SCORERS.get(check.scorer)
    words = list(make(options)) if make is not None else []
    graders = [grader for grader in words if grader is not None]
    return graders if len(graders) == len(words) else []


def _constraint(options: Config, identity: str) -> Words | None:
    """Return the constraint that a tool is called, or is not; `None` if it takes a grader to say it."""
    if not _only(options, "tool", "tool_pattern", "called"):
        return None
    key = EXPECTED if options.get("called", True) else REJECTED
    name = options.get("tool") or copilot_name(options.get("tool_pattern") or "")
    if name is None or name == SKILL_TOOL or ("tool" in options) is (alike(name) is not None):
        return None
    if "tool" not in options and identity != f"{key}: {name}":
        return None
    return Words(key, name)


def _only(options: Mapping[str, JsonValue], *keys: str) -> bool:
    """Tell whether nothing is asked that could not be written."""
    return not options.keys() - set(keys)


Maker = Callable[[Config], Iterator[Words | None]]
"""Gives `None` among the graders if one of them cannot be written."""


def _contains(options: Config) -> Iterator[Words | None]:
    stream = options.get("stream", "answer")
    if not _only(options, "keywords", "case_sensitive", "absent", "stream") or stream not in ("answer", "messages"):
        return
    subject = "output" if stream == "answer" else "transcript"
    kind = f"{subject}-not-contains" if options.get("absent") else f"{subject}-contains"
    heeds_case = {"case_sensitive": True} if options.get("case_sensitive") else {}
    for keyword in options["keywords"]:
        yield Words(kind, {"substring": keyword, **heeds_case}) if keyword.strip() else None


def _regex(options: Config) -> Iterator[Words | None]:
    if not _only(options, "patterns", "case_sensitive", "absent", "timeout_s", "syntax"):
        return
    absent, is_folded = bool(options.get("absent")), not options.get("case_sensitive", True)
    if options["patterns"] == [ANSWERED] and not absent:
        yield Words("exit-success", {})
        return
    for pattern in options["patterns"]:
        written = _pattern(pattern, options, is_folded=is_folded)
        kind = "output-not-matches" if absent else "output-matches"
        yield Words(kind, {"pattern": written}) if written and written.strip() else None


def _files(options: Config) -> Iterator[Words | None]:
    path, state = options["path"], options.get("state", "present")
    if not _only(options, "path", "state", "contains", "lacks", "patterns", "syntax") or _OTHER_WILDCARDS.search(path):
        return
    inside = [(key, text) for key in ("contains", "lacks", "patterns") for text in options.get(key, ())]
    if state == "untouched" and path == "**":
        yield Words("diff-empty", {})
    elif state == "absent":
        yield Words("file-not-exists", {"path": path})
    elif state == "present" and not inside:
        yield Words("file-exists", {"path": path})
    elif state == "present":
        yield from (_content(path, key, text, options) for key, text in inside)


def _pattern(pattern: str, options: Config, *, is_folded: bool = False) -> str | None:
    """Return a pattern of a check as Vally reads it; `None` if there is no such pattern."""
    if options.get("syntax") != JAVASCRIPT["syntax"]:
        return javascript_of(pattern, is_folded=is_folded)
    written = written_of(pattern)
    return javascript_of(written, is_folded=True) if is_folded else written


def _content(path: str, key: str, text: str, options: Config) -> Words | None:
    """Return the grader for one thing that is in a file, or is not."""
    if not text.strip():
        return None
    if key == "contains":
        return Words("file-contains", {"path": path, "value": text})
    is_one_file = "*" not in path and "?" not in path
    if key == "lacks":
        return Words("file-not-contains", {"path": path, "value": text}) if is_one_file else None
    unwanted = forbidden(text)
    pattern = _pattern(text if unwanted is None else unwanted, options)
    if pattern is None or not (unwanted is None or is_one_file):
        return None
    return Words("file-matches" if unwanted is None else "file-not-matches", {"path": path, "pattern": pattern})


def _command(options: Config) -> Iterator[Words | None]:
    command = options["command"]
    if (demand := no_file_demand(command)) is not None:
        kind = "file-not-contains" if "value" in demand else "file-not-matches"
        yield Words(kind, dict(demand))
        return
    if options.get("reads", "exit-code") != "exit-code" or _OF_ANSWERS.search(command):
        return
    config: Config = {"command": command, "expected_exit_code": options.get("expect_exit_code", 0)}
    config |= output_demand(command) or {}
    if not config["expected_exit_code"]:
        del config["expected_exit_code"]
    yield Words("run-command", {**config, "timeout": duration_text(options.get("timeout_s", 30.0))})


def _usage(options: Config) -> Iterator[Words | None]:
    kinds = {"tool_calls": "tool-call-count", "turns": "turn-count", "tokens": "token-budget"}
    for key, most in options.items():
        if key == "duration_s":
            yield Words("wall-time", {"max": duration_text(most)}) if most > 0 else None
        else:
            yield Words(kinds[key], {"max": most}) if key in kinds else None


def _tool_call(options: Config) -> Iterator[Words | None]:
    if not _only(options, "tool", "tool_pattern", "arguments", "called", "syntax"):
        return
    tool, pattern = options.get("tool"), options.get("tool_pattern")
    name = f"^{re.escape(tool)}$" if tool else (copilot_name(pattern) or _pattern(pattern, options)) if pattern else ""
    patterns = {key: _pattern(text, options) for key, text in (options.get("arguments") or {}).items()}
    if name is None or None in patterns.values():
        return
    call: Config = {"name": name} if name else {}
    call |= {key: patterns.pop(key) for key in ("command", "path") if key in patterns}
    call |= {"args": patterns} if patterns else {}
    note = "upper and lower case of the tool's name become the same" if tool else ""
    yield Words("tool-calls", {"required" if options.get("called", True) else "disallowed": [call]}, note)


def _sequence(options: Config) -> Iterator[Words | None]:
    tools = options.get("tools") or []
    if options.get("order", "in-order") == "in-order" and tools and all(map(PLAIN.fullmatch, tools)):
        yield Words("tool-calls", {"sequence": tools})


def _trigger(options: Config, candidate: str) -> Iterator[Words]:
    if _only(options, "skill", "should_trigger") and options["skill"] == candidate:
        key = "required" if options.get("should_trigger", True) else "disallowed"
        yield Words("skill-invocation", {key: [candidate]})


_SCORERS: dict[str, Maker] = {
    "contains": _contains,
    "regex": _regex,
    "files": _files,
    "command": _command,
    "usage": _usage,
    "tool-call": _tool_call,
    "sequence": _sequence,
}
