"""From graders to checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Check, JsonValue, canonical_json, did_you_mean
from skillgauge_patterns import PatternError, alternatives, compiled, from_javascript, in_python

from . import files
from .mocks import Mocked
from .reading import Findings, WrittenGrader

SKILL_TOOL = "Skill"
JAVASCRIPT, FOLDS = "javascript", "i"
MOCK_CALLS = "mock_calls"
_SOURCES = {"last_message": "answer", "trace": "events", "files": "created"}


@dataclass(frozen=True)
class Plugin:
    """The names that graders may speak of."""

    name: str
    skills: tuple[str, ...]


@dataclass(frozen=True)
class Around:
    """The case that graders belong to."""

    plugin: Plugin
    mocked: Mocked
    earlier_session: Callable[[str], str | None]
    """Returns the course of the session in a file of the suite; `None` if there is none."""


@dataclass(frozen=True)
class _Read:
    """A grader whose keys are right."""

    grader: Any
    """One of the models in `files`."""
    written: WrittenGrader
    name: str

    def is_with_only(self, mocked: Mocked) -> bool:
        """Tell whether the program grades it in the arm with the plugin alone, outside of the score."""
        grader = self.grader
        if grader.arm is not None:
            return bool(grader.arm == "with-only")
        looks_at = getattr(grader, "target", None) or getattr(grader, "focus", None)
        if looks_at == MOCK_CALLS:
            return mocked.is_of_plugin
        return isinstance(grader, files.ToolUsedGrader) and grader.tool == SKILL_TOOL


@dataclass(frozen=True)
class _Making:
    """The surroundings of one grader while its check is made."""

    read: _Read
    around: Around
    findings: Findings
    beside: bool

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        self.findings.refuse(message, self.read.written.origin(*pointer), hint)

    def tell(self, message: str, *pointer: str | int) -> None:
        self.findings.tell(message, self.read.written.origin(*pointer))

    def pattern(self, written: str | None, flags: str, *pointer: str | int) -> None:
        """Refuse a pattern that the program takes and can never match."""
        try:
            compiled(from_javascript(written or "", flags))
        except PatternError as error:
            hint = "The program loads it and lets the grader fail in every run."
            self.refuse(str(error), *pointer, hint=hint)


def checks_of(written: tuple[WrittenGrader, ...], around: Around, findings: Findings) -> tuple[Check, ...]:
    """Make the checks of a case.

    A grader that only the arm with the plugin can pass is a figure beside the verdict, unless the case has no other.
    """
    graders = list(_read(written, findings))
    indicators = [one.is_with_only(around.mocked) for one in graders]
    makings = (
        _Making(one, around, findings, beside=is_indicator and not all(indicators))
        for one, is_indicator in zip(graders, indicators, strict=True)
    )
    return tuple(check for making in makings if (check := _check(making)) is not None)


def _read(written: tuple[WrittenGrader, ...], findings: Findings) -> Iterator[_Read]:
    names: set[str] = set()
    for grader_text in written:
        kind = grader_text.values.get("type")
        model = files.GRADERS.get(kind) if isinstance(kind, str) else None
        if model is None:
            message = "a grader without a type" if kind is None else f"there is no grader of type {kind!r}"
            near = did_you_mean(str(kind), tuple(files.GRADERS))
            findings.refuse(
                f"{message}{near}", grader_text.origin("type"), f"Use grader_text of {', '.join(files.GRADERS)}."
            )
            continue
        grader = findings.read(model, grader_text.values, grader_text.document, *grader_text.pointer)
        if grader is None:
            continue
        name = grader.name or grader_text.default_name
        if name in names:
            findings.refuse(
                f"two graders are called {name!r}", grader_text.origin("name"), "Give grader_text another name."
            )
        names.add(name)
        yield _Read(grader, grader_text, name)


def _check(making: _Making) -> Check | None:
    read = making.read
    scorer, options = _MAKERS[read.grader.type](read.grader, making)
    if not scorer:
        return None
    return Check(
        id=read.name,
        scorer=scorer,
        options=options,
        weight=read.grader.weight,
        beside=making.beside,
        origin=read.written.origin(),
    )


_Made = tuple[str, dict[str, JsonValue]]
_NOTHING: _Made = ("", {})


def _regex(grader: files.RegexGrader, making: _Making) -> _Made:
    making.pattern(grader.pattern, grader.flags, "pattern")
    if (plain := _plain(grader)) is not None:
        return plain
    options: dict[str, JsonValue] = {"syntax": JAVASCRIPT, "patterns": (grader.pattern,)}
    if grader.flags:
        options["flags"] = grader.flags
    if isinstance(grader.target, files.FileTarget):
        if not _is_inside(grader.target.path, making, "target", "path"):
            return _NOTHING
        options["file"] = grader.target.path
    elif grader.target == MOCK_CALLS:
        if not _is_mocked(making, "target"):
            return _NOTHING
        options["source"] = "mocked"
    elif grader.target != "last_message":
        options["source"] = _SOURCES[grader.target]
    if grader.match == "not_contains":
        options["absent"] = True
    elif grader.match != "contains":
        options["at_least"] = options["at_most"] = int(grader.match.removeprefix("count:"))
    return "regex", options


def _plain(grader: files.RegexGrader) -> _Made | None:
    """Return the check for a text or a pattern of the answer that means the same here; `None` if there is none."""
    if grader.target != "last_message" or grader.match not in ("contains", "not_contains"):
        return None
    if grader.flags not in ("", FOLDS):
        return None
    more: dict[str, JsonValue] = {"absent": True} if grader.match == "not_contains" else {}
    texts = alternatives(grader.pattern)
    if len(texts) == 1:
        return "contains", {"keywords": texts, "case_sensitive": not grader.flags, **more}
    try:
        pattern = "|".join(map(re.escape, texts)) or in_python(grader.pattern)
    except PatternError:  # it is told with its place
        return None
    if pattern is None:
        return None
    return "regex", {"patterns": (pattern,), **({"case_sensitive": False} if grader.flags else {}), **more}


def _is_mocked(making: _Making, key: str) -> bool:
    if not making.around.mocked.installs:
        hint = "Add mocks/SERVER/TOOL.md, or look at the trace."
        making.refuse("nothing answers in the place of a server, so there are no calls to look at", key, hint=hint)
    return bool(making.around.mocked.installs)


def _tool_used(grader: files.ToolUsedGrader, making: _Making) -> _Made:
    making.pattern(grader.input_match, "", "input_match")
    if grader.max is not None and grader.max < grader.min:
        hint = "Write min: 0, max: 0 to say that it may not be called."
        making.refuse(f"no number of calls is at least {grader.min} and at most {grader.max}", "max", hint=hint)
        return _NOTHING
    if grader.tool == SKILL_TOOL and (trigger := _trigger(grader, making)):
        return trigger
    return "tool-call", _call(grader.tool, grader.input_match) | _bounds(grader)


def _bounds(grader: files.ToolUsedGrader) -> dict[str, JsonValue]:
    if grader.max is None:
        return {} if grader.min == 1 else {"at_least": grader.min}
    if grader.max == 0:
        return {"called": False}
    return {"at_least": grader.min, "at_most": grader.max}


def _trigger(grader: files.ToolUsedGrader, making: _Making) -> _Made | None:
    """Return the check that a skill of the plugin fires, or does not; `None` if calls of the tool are counted."""
    if (grader.min, grader.max) not in ((1, None), (0, 0)):
        return None
    plugin = making.around.plugin
    meant = [one for one in plugin.skills if _is_meant(one, plugin.name, grader.input_match)]
    if not meant:
        return None
    options: dict[str, JsonValue] = {"skill": meant[0]}
    if len(meant) > 1:
        options["acceptable"] = tuple(meant[1:])
    if grader.max == 0:
        options["should_trigger"] = False
    if not making.beside:
        options["counts_without"] = True
    return "trigger", options


def _is_meant(skill: str, plugin: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    try:
        search = compiled(from_javascript(pattern)).search
    except PatternError:  # it is told with its place
        return False
    names = (skill, f"{plugin}:{skill}")
    return any(search(canonical_json({"skill": name, **more})) for name in names for more in ({}, {"args": "x"}))


def _tool_order(grader: files.ToolOrderGrader, making: _Making) -> _Made:
    sides = {}
    for key in ("before", "after"):
        side = getattr(grader, key)
        call = side if isinstance(side, files.ToolCall) else files.ToolCall(tool=side)
        making.pattern(call.input_match, "", key, "input_match")
        sides[key] = _call(call.tool, call.input_match)
    return "tool-call", sides["before"] | {"before": sides["after"]}


def _call(tool: str, input_match: str | None) -> dict[str, JsonValue]:
    options: dict[str, JsonValue] = {"tool": tool}
    return options if input_match is None else options | {"syntax": JAVASCRIPT, "input_pattern": input_match}


def _file_exists(grader: files.FileExistsGrader, making: _Making) -> _Made:
    if not _is_inside(grader.path, making, "path"):
        return _NOTHING
    return "files", {"path": grader.path, "state": "created" if grader.exists else "not-created"}


def _is_inside(path: str, making: _Making, *pointer: str) -> bool:
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        hint = "Give a path below the workspace."
        making.refuse(f"{path!r} does not stay inside the workspace", *pointer, hint=hint)
        return False
    return True


def _llm(grader: files.LlmGrader, making: _Making) -> _Made:
    focus = grader.focus
    options: dict[str, JsonValue] = {"criteria": grader.criteria, "trajectory": focus == "trace", "files": False}
    if focus == MOCK_CALLS:
        if not _is_mocked(making, "focus"):
            return _NOTHING
        making.tell("the judge is shown the session, and not the calls of stand-ins alone", "focus")
        options["trajectory"] = True
    elif isinstance(focus, files.FileTarget):
        making.tell("the judge is shown the answer and all files that the agent changed, not one file alone", "focus")
        options["files"] = True
    elif focus == "files":
        making.tell(
            "the judge is shown the answer and the files that the agent changed, not their paths alone", "focus"
        )
        options["files"] = True
    making.tell("one verdict of each judge decides, not the majority of three; --judge may name three judges", "type")
    return "rubric", options


def _baseline(grader: files.BaselineGrader, making: _Making) -> _Made:
    session = making.around.earlier_session(grader.baseline_file)
    if session is None:
        hint = "Name a file in the plugin with the lines that a session wrote, as --output-format stream-json has them."
        making.refuse(f"there is no session in {grader.baseline_file!r}", "baseline_file", hint=hint)
        return _NOTHING
    if grader.criteria is None:
        making.refuse("nothing says in what the sessions are compared", "type", hint="Write it below the front matter.")
        return _NOTHING
    making.tell("one verdict of each judge decides, not the majority of three; --judge may name three judges", "type")
    criteria = f"The session satisfies this at least as well as the earlier session does: {grader.criteria}"
    reference = f"The earlier session, step by step:\n{session}"
    return "rubric", {"criteria": criteria, "reference": reference, "trajectory": True, "files": False}


_MAKERS: dict[str, Callable[[Any, _Making], _Made]] = {
    "regex": _regex,
    "tool_used": _tool_used,
    "tool_order": _tool_order,
    "file_exists": _file_exists,
    "llm": _llm,
    "baseline": _baseline,
}
