"""From checks to graders: what `graders` makes of a grader, and what checks of other formats say in the same words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from skillgauge.api import Check, text_of, thaw
from skillgauge_patterns import PatternError, compiled, from_javascript

from .graders import JAVASCRIPT, SKILL_TOOL

Grader = dict[str, Any]
Options = dict[str, Any]
_INLINE = re.compile(r"\(\?([ims]+)\)")
_ELSEWHERE = re.compile(r"\\[AZzGh]|\(\?[PR#>&|(]|\[\[:|[*+?}]\+|\(\?[a-zA-Z]*[^imsa-z:=!<-]")
"""What means something in Python's patterns, and something else or nothing in JavaScript."""


def graders_of(check: Check) -> tuple[Grader, ...]:
    """Return the graders that say what a check says, all of them together; none if there are no words for it."""
    make = _SCORERS.get(check.scorer)
    if make is None or check.weight <= 0 or check.stage:
        return ()
    options = {key: thaw(value) for key, value in check.options.items()}
    graders = list(make(options))
    for grader in graders:
        weight = check.weight / len(graders)
        grader |= {} if weight == 1 else {"weight": weight}
        if check.beside and check.scorer != "trigger":
            grader["arm"] = "with-only"
    return tuple(graders)


def _contains(options: Options) -> Iterator[Grader]:
    if options.get("stream", "answer") != "answer":
        return
    flags = {} if options.get("case_sensitive") else {"flags": "i"}
    for keyword in options["keywords"]:
        yield {"type": "regex", "pattern": _escaped(keyword), **flags} | _match(options)


def _escaped(text: str) -> str:
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", text)


def _match(options: Options) -> Grader:
    return {"match": "not_contains"} if options.get("absent") else {}


_TARGETS: dict[str, Grader] = {"answer": {}, "events": {"target": "trace"}, "created": {"target": "files"}}


def _regex(options: Options) -> Iterator[Grader]:
    least, most = options.get("at_least"), options.get("at_most")
    source = options.get("source", "answer")
    if source not in _TARGETS or (least != most and (least, most) != (1, None)):
        return
    where = {"target": {"source": "file", "path": options["file"]}} if "file" in options else _TARGETS[source]
    how = _match(options) if least is None or most is None else {"match": f"count:{least}"}
    graders = []
    for pattern in options["patterns"]:
        written = _pattern(pattern, options)
        if written is None:
            return
        graders.append({"type": "regex", **written, **where, **how})
    yield from graders


def _pattern(pattern: str, options: Options) -> Grader | None:
    """Return a pattern with its flags as JavaScript has them; `None` if it means something else there."""
    flags = options.get("flags", "")
    if options.get("syntax") != JAVASCRIPT:
        inline = _INLINE.match(pattern)
        flags = inline[1] if inline else ""
        pattern = pattern[inline.end() :] if inline else pattern
        if "m" not in flags:
            pattern = re.sub(r"\A\\A", "^", re.sub(r"(?<!\\)\\Z\Z", "$", pattern))
        if _ELSEWHERE.search(pattern) or not _is_javascript(pattern):
            return None
    flags += "i" if not options.get("case_sensitive", True) and "i" not in flags else ""
    return {"pattern": pattern} | ({"flags": flags} if flags else {})


def _is_javascript(pattern: str) -> bool:
    try:
        compiled(from_javascript(pattern))
    except PatternError:
        return False
    return bool(pattern)


def _files(options: Options) -> Iterator[Grader]:
    path, state = options["path"], options.get("state", "present")
    if options.keys() <= {"path", "state"} and state in ("created", "not-created"):
        yield {"type": "file_exists", "path": path} | ({} if state == "created" else {"exists": False})
    elif state == "present" and not re.search(r"[*?]", path) and options.keys() <= {"path", "state", "contains"}:
        target = {"source": "file", "path": path}
        for text in options.get("contains") or ():
            yield {"type": "regex", "pattern": _escaped(text), "target": target}


def _tool_call(options: Options) -> Iterator[Grader]:
    before = options.pop("before", None)
    call = _call(options)
    if call is None or (before is not None and ("called" in options or (later := _call(before)) is None)):
        return
    if before is not None:
        yield {"type": "tool_order", "before": call, "after": later}
        return
    least, most = options.get("at_least"), options.get("at_most")
    if not options.get("called", True):
        least, most = 0, 0
    bounds = {"min": least, "max": most}
    yield {"type": "tool_used", **call} | {key: value for key, value in bounds.items() if value is not None}


def _call(options: Options) -> Grader | None:
    """Return the tool and the pattern of its input; `None` if more than that is asked."""
    sayable = {"tool", "syntax", "input_pattern", "called", "at_least", "at_most"}
    if not options.keys() <= sayable or "tool" not in options:
        return None
    pattern = options.get("input_pattern")
    if pattern is None:
        return {"tool": options["tool"]}
    written = _pattern(pattern, {"syntax": options.get("syntax")})
    return None if written is None or "flags" in written else {"tool": options["tool"], "input_match": pattern}


def _trigger(options: Options) -> Iterator[Grader]:
    names = "|".join(_escaped(name) for name in (options["skill"], *options.get("acceptable", ())))
    grader: Grader = {"type": "tool_used", "tool": SKILL_TOOL, "input_match": f'"([^"]*:)?({names})"'}
    if not options.get("should_trigger", True):
        grader |= {"min": 0, "max": 0}
    yield grader | ({"arm": "both"} if options.get("counts_without") else {"arm": "with-only"})


def _rubric(options: Options) -> Iterator[Grader]:
    if options.get("scale", "pass-fail") != "pass-fail" or options.get("model"):
        return
    criteria = options.get("criteria") or options.get("claims") or ()
    focus = {"focus": "trace"} if options.get("trajectory", True) else {}
    for text in (criteria,) if isinstance(criteria, str) else criteria:
        if options.get("reference") is not None:  # a grader has no place of its own for it
            text = f"{text}\n\nAn output that would be right:\n{text_of(options['reference'])}"
        yield {"type": "llm", "criteria": text, **focus}


_SCORERS: dict[str, Callable[[Options], Iterator[Grader]]] = {
    "contains": _contains,
    "regex": _regex,
    "files": _files,
    "tool-call": _tool_call,
    "trigger": _trigger,
    "rubric": _rubric,
}
