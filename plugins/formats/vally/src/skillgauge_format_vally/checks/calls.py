"""Graders and constraints about tools and skills."""

from __future__ import annotations

from collections.abc import Iterator

from skillgauge.api import JsonValue

from ..skills import SKILL_TOOL
from ..source.configs import CallConfig, CallsConfig, SkillsConfig
from ..source.files import ConstraintsFile
from ..source.patterns import JAVASCRIPT
from .making import TRIGGER, Context, Made
from .tools import PLAIN, alike

EXPECTED, REJECTED = "expect_tools", "reject_tools"
_NAMES = "names of tools are Copilot's: what other agents call bash, view, edit or create counts as well"
_ALL = "*"


def constraints(read: ConstraintsFile, context: Context) -> Iterator[Made]:
    """Yield the checks of the constraints of a stimulus."""
    yield from _skills(read, context)
    if read.max_turns is not None:
        yield Made("max_turns", "usage", {"turns": read.max_turns})
    if read.max_tokens is not None:
        yield Made("max_tokens", "usage", {"tokens": read.max_tokens})
    for key, called in ((EXPECTED, True), (REJECTED, False)):
        for number, name in enumerate(getattr(read, key)):
            if name != SKILL_TOOL:
                yield _tool(name, context, key, number, called=called)


def _skills(read: ConstraintsFile, context: Context) -> Iterator[Made]:
    for number, name in enumerate(read.expect_skills):
        yield from context.trigger(name, "expect_skills", number, should=True)
    for number, name in enumerate(read.reject_skills):
        for skill in context.skills.names if name == _ALL else (name,):
            yield from context.trigger(skill, "reject_skills", number, should=False)
    for key, called in ((EXPECTED, True), (REJECTED, False)):
        if SKILL_TOOL in getattr(read, key):
            yield from any_skill(context, key, getattr(read, key).index(SKILL_TOOL), called=called)


def _tool(name: str, context: Context, *pointer: str | int, called: bool) -> Made:
    """Return the check that a tool is called, or is not: by its name."""
    context.tell(_NAMES, *pointer)
    pattern = alike(name)
    tool = {"tool": name} if pattern is None else {"tool_pattern": pattern}
    return Made(f"{EXPECTED if called else REJECTED}: {name}", "tool-call", {**tool, "called": called})


def any_skill(context: Context, *pointer: str | int, called: bool) -> Iterator[Made]:
    """Yield the checks that one of the skills under test fires, or that each stays silent."""
    names = context.skills.tested_names
    if not names:
        context.cannot("no skill is under test, and one has to be loaded", *pointer, hint="Name it: --skill-path DIR.")
    elif pointer[0] != "expect_activation":
        context.tell("the tool `skill` stands for the skill under test, which an agent may also read", *pointer)
    if called and len(names) > 1:
        options: dict[str, JsonValue] = {"skill": names[0], "acceptable": names[1:], "should_trigger": True}
        yield Made(f"{' or '.join(names)} fires", TRIGGER, options)
        return
    for name in names:
        yield from context.trigger(name, *pointer, should=called)


def skills(config: SkillsConfig, context: Context) -> Iterator[Made]:
    """Yield the checks of a grader about skills."""
    if not config.required and not config.disallowed:
        context.refuse("this grader checks nothing", hint="Name skills in `required` or `disallowed`.")
    for number, name in enumerate(config.required):
        yield from context.trigger(name, "required", number, should=True)
    for number, name in enumerate(config.disallowed):
        yield from context.trigger(name, "disallowed", number, should=False)


def calls(config: CallsConfig, context: Context) -> Iterator[Made]:
    """Yield the checks of a grader about calls of tools."""
    for key, called in (("required", True), ("disallowed", False)):
        for number, entry in enumerate(getattr(config, key)):
            yield from _call(entry, context, key, number, called=called)
    if config.sequence:
        yield from _sequence(config, context)


def _call(entry: str | CallConfig, context: Context, *pointer: str | int, called: bool) -> Iterator[Made]:
    call = CallConfig(name=entry) if isinstance(entry, str) else entry
    for key in ("result", "pattern"):
        if getattr(call, key) is not None:
            hint = "Ask for arguments by command, path or args."
            context.cannot(f"{key} of a call is not looked at", *pointer, key, hint=hint)
    arguments = _arguments(call, context, *pointer)
    if call.name == SKILL_TOOL and not arguments:
        yield from any_skill(context, *pointer, called=called)
        return
    options: dict[str, JsonValue] = {"called": called}
    if call.name is not None:
        place = pointer if isinstance(entry, str) else (*pointer, "name")
        options |= _named(call.name, context, *place)
    if arguments:
        options |= {"arguments": arguments, **JAVASCRIPT}
    yield Made(f"{pointer[0]} {call.name or ', '.join(arguments)} {pointer[-1]}", "tool-call", options)


def _arguments(call: CallConfig, context: Context, *pointer: str | int) -> dict[str, JsonValue]:
    """Return patterns by the name of the argument in which they are looked for."""
    written = {key: text for key in ("command", "path") if (text := getattr(call, key)) is not None}
    patterns = {key: context.pattern(text, *pointer, key) for key, text in written.items()}
    return {**patterns, **{key: context.pattern(text, *pointer, "args", key) for key, text in call.args.items()}}


def _named(name: str, context: Context, *pointer: str | int) -> dict[str, JsonValue]:
    """Return the options for a tool of a name, which is a pattern unless it is one of Copilot's."""
    context.tell(_NAMES, *pointer)
    pattern = alike(name)
    return (
        {"tool_pattern": context.pattern(name, *pointer), **JAVASCRIPT}
        if pattern is None
        else {"tool_pattern": pattern}
    )


def _sequence(config: CallsConfig, context: Context) -> Iterator[Made]:
    names: list[str] = []
    for number, entry in enumerate(config.sequence):
        call = CallConfig(name=entry) if isinstance(entry, str) else entry
        name = call.name or ""
        if call.model_fields_set == {"name"} and PLAIN.fullmatch(name):
            names.append(name)
        else:
            hint = "Write the plain names of the tools, and ask for arguments in `required`."
            context.cannot("a sequence of patterns is not followed", "sequence", number, hint=hint)
    if names:
        context.tell("tools of a sequence are found by the names that the agent itself has for them", "sequence")
        yield Made("sequence", "sequence", {"tools": tuple(names), "order": "in-order"})
