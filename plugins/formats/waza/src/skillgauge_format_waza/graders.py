"""From graders to checks: one entry for each type, one check for each thing that a scorer decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from skillgauge.api import Check, Document, JsonValue, SuiteError, did_you_mean, read_document
from skillgauge_patterns import PatternError, compiled, unfolded

from . import configs
from .commands import code_command, measured, program_command, shell_command
from .files import BehaviorFile, ExpectedFile, GraderFile, Part
from .patterns import any_of, nowhere
from .reading import Pointer, Reading

ORDERS = {
    "exact_match": "exact",
    "in_order_match": "in-order",
    "in_order": "in-order",
    "any_order_match": "any",
    "any_order": "any",
}
FOLDED = "(?i)"
_EXPECTED = "expected"
_TOOL_NAMES = "tools are named as the agent that runs calls them, which may differ from Copilot's names"


class Made(NamedTuple):
    """The checks that a grader, or a part of it, becomes."""

    what: str
    """Names it among the parts of one grader."""
    scorer: str
    options: Mapping[str, JsonValue]
    beside: bool = False


@dataclass(frozen=True)
class Given:
    """A grader and where it stands."""

    reading: Reading
    place: Pointer
    """Of its `config`."""
    fixtures: Path
    compares: bool
    """Whether the suite compares with an arm without the skill."""

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        """A part of it that cannot be honoured."""
        self.reading.refuse(message, *self.place, *pointer, hint=hint)

    def tell(self, message: str, *pointer: str | int) -> None:
        """A part of it that is honoured in another way."""
        self.reading.tell(message, *self.place, *pointer)

    def patterns(self, written: tuple[str, ...], *pointer: str | int) -> tuple[str, ...]:
        """Patterns, each of which can be used."""
        for number, pattern in enumerate(written):
            self.pattern(pattern, *pointer, number)
        return written

    def pattern(self, written: str | None, *pointer: str | int) -> None:
        """A pattern that can be used."""
        try:
            compiled(written or "")
        except PatternError as error:
            self.refuse(str(error), *pointer)


def checks_of(grader: GraderFile, context: Given) -> Iterator[Check]:
    """The checks of one grader; none, with a problem, if it cannot be honoured."""
    entry = _TYPES.get(grader.type)
    if entry is None:
        message = f"there is no grader of type {grader.type!r} here{did_you_mean(grader.type, tuple(_TYPES))}"
        context.reading.refuse(message, *context.place[:-1], "type", hint=f"Use one of {', '.join(_TYPES)}.")
        return
    model, make = entry
    config = _config(grader, context)
    read = context.reading.part(model, config, *context.place) if config is not None else None
    if read is None:
        return
    parts = list(make(read, context))
    if not parts and not context.reading.problems:
        context.refuse("this grader checks nothing", hint="Say what it looks for, or take it out.")
    origin = context.reading.document.origin(*context.place[:-1])
    for part in parts:
        yield Check(
            id=grader.name if len(parts) == 1 else f"{grader.name}: {part.what}",
            scorer=part.scorer,
            options=dict(part.options),
            weight=grader.weight / len(parts),
            beside=part.beside,
            origin=origin,
        )


def expectations(expected: ExpectedFile, context: Given, skill: str) -> Iterator[Check]:
    """The checks of `expected`."""
    if expected != ExpectedFile():
        context.tell("what is expected is checked here; waza itself runs graders only")
    for key in ("outcomes", "tool_calls"):
        if getattr(expected, key):
            context.tell(f"{key} say nothing that could be checked", key)
    parts: list[Made] = []
    if expected.output_contains:
        parts.append(_contains("output_contains", expected.output_contains))
    if expected.output_not_contains:
        parts.append(_contains("output_not_contains", expected.output_not_contains, absent=True))
    if expected.output_contains_any:
        patterns = (any_of(expected.output_contains_any),)
        options: dict[str, JsonValue] = {"patterns": patterns, "case_sensitive": False}
        parts.append(Made("output_contains_any", "regex", options))
    if expected.behavior is not None:
        parts += _behavior_of_task(expected.behavior, context)
    if expected.should_trigger is not None:
        options = {"skill": skill, "should_trigger": expected.should_trigger}
        parts.append(Made("should_trigger", "trigger", options, beside=True))
    origin = context.reading.document.origin(*context.place)
    for part in parts:
        identity = f"{_EXPECTED}: {part.what}"
        yield Check(id=identity, scorer=part.scorer, options=dict(part.options), beside=part.beside, origin=origin)


def _config(grader: GraderFile, context: Given) -> dict[str, Any] | None:
    """Its `config`, with what may stand beside it for some types."""
    start = context.place[:-1]
    if grader.script is not None:
        context.reading.refuse("no script is run by this key", *start, "script", hint="Use a grader of type program.")
    config: dict[str, Any] = dict(grader.config or {})
    for key, types, target in (
        ("assertions", ("code",), "assertions"),
        ("rubric", ("prompt",), "prompt"),
        ("model", ("prompt",), "model"),
    ):
        value = getattr(grader, key)
        if value is None:
            continue
        if grader.type not in types or target in config:
            why = f"{target!r} stands in `config`, too" if grader.type in types else f"of type {grader.type}"
            context.reading.refuse(f"{key!r} means nothing for a grader {why}", *start, key)
            return None
        config[target] = value
    return config


def _contains(what: str, texts: tuple[str, ...], *, absent: bool = False, case_sensitive: bool = False) -> Made:
    return Made(what, "contains", {"keywords": texts, "case_sensitive": case_sensitive, "absent": absent})


def _regex(what: str, patterns: tuple[str, ...], *, absent: bool = False) -> Made:
    plain, heeds_case = unfolded(patterns)
    case: dict[str, JsonValue] = {} if heeds_case else {"case_sensitive": False}
    return Made(what, "regex", {"patterns": plain, **case, "absent": absent})


def _code(config: configs.CodeConfig, context: Given) -> Iterator[Made]:
    if config.language != "python":
        context.refuse("assertions in JavaScript are not run", "language", hint="Write them in Python, or a program.")
        return
    kept: list[str] = []
    for number, assertion in enumerate(config.assertions):
        try:
            measure = measured(assertion)
        except ValueError as error:
            hint = "Use a grader of type behavior, tool_constraint or file for what is not the output."
            context.refuse(f"{assertion!r} cannot be checked: {error}", "assertions", number, hint=hint)
            continue
        if measure is None:
            kept.append(assertion)
        elif measure.limit:
            yield Made(assertion, "usage", {measure.limit: measure.most})
        else:
            yield Made(assertion, "tool-call", {"tool_pattern": ".", "called": True})
    if kept:
        options: dict[str, JsonValue] = {"command": code_command(kept), "reads": "score", "label": "assertions"}
        yield Made("assertions", "command", options)


def _text(config: configs.TextConfig, context: Given) -> Iterator[Made]:
    if config.contains:
        yield _contains("contains", config.contains)
    if config.not_contains:
        yield _contains("not_contains", config.not_contains, absent=True)
    if config.contains_cs:
        yield _contains("contains_cs", config.contains_cs, case_sensitive=True)
    if config.not_contains_cs:
        yield _contains("not_contains_cs", config.not_contains_cs, absent=True, case_sensitive=True)
    if config.regex_match:
        yield _regex("regex_match", context.patterns(config.regex_match, "regex_match"))
    if config.regex_not_match:
        yield _regex("regex_not_match", context.patterns(config.regex_not_match, "regex_not_match"), absent=True)


def _patterns(config: configs.RegexConfig, context: Given) -> Iterator[Made]:
    if config.must_match:
        yield _regex("must_match", context.patterns(config.must_match, "must_match"))
    if config.must_not_match:
        yield _regex("must_not_match", context.patterns(config.must_not_match, "must_not_match"), absent=True)


def _keywords(config: configs.KeywordConfig, context: Given) -> Iterator[Made]:
    if config.must_contain:
        yield _contains("must_contain", config.must_contain)
    if config.must_not_contain:
        yield _contains("must_not_contain", config.must_not_contain, absent=True)


def _inside(context: Given, path: str, *pointer: str | int) -> bool:
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        context.refuse(f"{path!r} does not stay inside the workspace", *pointer, hint="Give a relative path.")
        return False
    if any(sign in path for sign in "*?["):
        context.refuse(f"{path!r} would be a pattern here, and is one file in waza", *pointer, hint="Name the file.")
        return False
    return True


def _file(config: configs.FileConfig, context: Given) -> Iterator[Made]:
    for key, state in (("must_exist", "present"), ("must_not_exist", "absent")):
        for number, path in enumerate(getattr(config, key)):
            if _inside(context, path, key, number):
                yield Made(f"{path} is {state}", "files", {"path": path, "state": state})
    for number, pattern in enumerate(config.content_patterns):
        place = ("content_patterns", number)
        if not pattern.must_match and not pattern.must_not_match:
            context.refuse("there is no pattern for this file", *place, hint="must_exist asks whether it is there.")
        if _inside(context, pattern.path, *place, "path"):
            patterns = context.patterns(pattern.must_match, *place, "must_match")
            absent = context.patterns(pattern.must_not_match, *place, "must_not_match")
            yield Made(
                f"{pattern.path} {number + 1}",
                "files",
                {"path": pattern.path, "patterns": (*patterns, *map(nowhere, absent))},
            )


def _diff(config: configs.DiffConfig, context: Given) -> Iterator[Made]:
    folder = context.reading.folder / config.context_dir if config.context_dir else context.fixtures
    for number, file in enumerate(config.expected_files):
        place = ("expected_files", number)
        options: dict[str, JsonValue] = {"path": file.path}
        fragments = [
            (text[0] != "-", text.removeprefix("+" if text[0] == "+" else "-").strip()) for text in file.contains
        ]
        expected, unwanted = (
            tuple(text for is_wanted, text in fragments if text and is_wanted is side) for side in (True, False)
        )
        options |= ({"contains": expected} if expected else {}) | ({"lacks": unwanted} if unwanted else {})
        if file.snapshot is not None:
            source = context.reading.file(folder, file.snapshot, *context.place, *place, "snapshot")
            options["equals"] = context.reading.text(source, *context.place, *place, "snapshot") if source else ""
        if len(options) == 1:
            context.refuse("there is nothing to compare this file with", *place, hint="Give a snapshot, or contains.")
        elif _inside(context, file.path, *place, "path"):
            yield Made(f"{file.path} {number + 1}", "files", options)


def _json_schema(config: configs.SchemaConfig, context: Given) -> Iterator[Made]:
    if (config.json_schema is None) is (config.schema_file is None):
        context.refuse("exactly one of schema and schema_file must be given")
    elif config.json_schema is not None:
        yield Made("schema", "json-schema", {"schema": config.json_schema})
    else:
        written = config.schema_file or ""
        file = context.reading.file(context.reading.folder, written, *context.place, "schema_file")
        document = _document(file, context) if file is not None else None
        if document is not None:
            yield Made("schema", "json-schema", {"schema": document.value})


def _document(file: Path, context: Given) -> Document | None:
    try:
        document = read_document(file, kind="json")
    except SuiteError as error:
        context.reading.problems += error.problems
        return None
    if not isinstance(document.value, Mapping):
        context.refuse(f"{file.name!r} holds no schema, which is an object", "schema_file")
        return None
    return document


def _program(config: configs.ProgramConfig, context: Given) -> Iterator[Made]:
    if (plain := shell_command(config.command, config.args)) is not None:
        command, code = plain
        expected: dict[str, JsonValue] = {"expect_exit_code": code} if code else {}
        limit: dict[str, JsonValue] = {"fail_codes": "any", "timeout_s": float(config.timeout)}
        yield Made("program", "command", {"command": command, **expected, **limit})
        return
    options: dict[str, JsonValue] = {
        "command": program_command(config.command, config.args),
        "fail_codes": "any",
        "timeout_s": float(config.timeout),
        "label": " ".join((config.command, *config.args)),
    }
    yield Made("program", "command", options)


def _tools(names: tuple[str, ...], context: Given, key: str, *, called: bool) -> Iterator[Made]:
    for name in names:
        context.tell(_TOOL_NAMES, key)
        yield Made(f"{name} is {'' if called else 'not '}called", "tool-call", {"tool": name, "called": called})


def _behavior(config: configs.BehaviorConfig, context: Given) -> Iterator[Made]:
    if config.max_tool_calls is not None:
        yield Made("max_tool_calls", "usage", {"tool_calls": config.max_tool_calls})
    if config.max_tokens is not None:
        yield Made("max_tokens", "usage", {"tokens": config.max_tokens})
    if config.max_duration_ms is not None:
        yield Made("max_duration_ms", "usage", {"duration_s": config.max_duration_ms / 1000})
    yield from _tools(config.required_tools, context, "required_tools", called=True)
    yield from _tools(config.forbidden_tools, context, "forbidden_tools", called=False)


def _behavior_of_task(behavior: BehaviorFile, context: Given) -> Iterator[Made]:
    config = configs.BehaviorConfig(
        max_tool_calls=behavior.max_tool_calls,
        max_tokens=behavior.max_tokens,
        max_duration_ms=behavior.max_response_time_ms,
        required_tools=behavior.required_tools,
        forbidden_tools=behavior.forbidden_tools,
    )
    yield from _behavior(config, context)
    if behavior.max_iterations is not None:
        yield Made("max_iterations", "usage", {"turns": behavior.max_iterations})


def _actions(config: configs.ActionsConfig, context: Given) -> Iterator[Made]:
    context.tell(_TOOL_NAMES, "expected_actions")
    order = ORDERS[config.matching_mode]
    yield Made("sequence", "sequence", {"tools": config.expected_actions, "order": order})


def _skills(config: configs.SkillsConfig, context: Given) -> Iterator[Made]:
    if not config.allow_extra:
        context.tell("allow_extra lowers a score in waza and decides nothing; it has no effect here", "allow_extra")
    options: dict[str, JsonValue] = {"skills": config.required_skills, "order": ORDERS[config.mode]}
    yield Made("skills", "sequence", options, beside=context.compares)


def _constraints(config: configs.ToolsConfig, context: Given) -> Iterator[Made]:
    for key, called in (("expect_tools", True), ("reject_tools", False)):
        for number, constraint in enumerate(getattr(config, key)):
            context.tell(_TOOL_NAMES, key)
            context.pattern(constraint.tool, key, number, "tool")
            arguments: dict[str, JsonValue] = {}
            for name in ("command", "skill", "path"):
                if (written := getattr(constraint, f"{name}_pattern")) is not None:
                    context.pattern(written, key, number, f"{name}_pattern")
                    arguments[name] = written if written.startswith(FOLDED) else f"{FOLDED}{written}"
            options: dict[str, JsonValue] = {"tool_pattern": constraint.tool, "called": called}
            yield Made(f"{key} {number + 1}", "tool-call", options | ({"arguments": arguments} if arguments else {}))


def _prompt(config: configs.PromptConfig, context: Given) -> Iterator[Made]:
    if config.mode == "pairwise":
        hint = "Use mode independent, and --baseline for the arm without the skill."
        context.refuse("answers of two arms are not judged against each other", "mode", hint=hint)
    if config.prompt is None:
        context.refuse("a grader of type prompt needs `prompt`")
        return
    if config.continue_session:
        context.tell("a judge sees the session instead of continuing it", "continue_session")
    context.tell("a prompt is the criterion of a judge, who gives a verdict and calls no tools of waza")
    yield Made("prompt", "rubric", {"criteria": config.prompt} | ({"model": config.model} if config.model else {}))


_TYPES: dict[str, tuple[type[Part], Callable[[Any, Given], Iterator[Made]]]] = {
    "code": (configs.CodeConfig, _code),
    "text": (configs.TextConfig, _text),
    "regex": (configs.RegexConfig, _patterns),
    "keyword": (configs.KeywordConfig, _keywords),
    "file": (configs.FileConfig, _file),
    "diff": (configs.DiffConfig, _diff),
    "json_schema": (configs.SchemaConfig, _json_schema),
    "program": (configs.ProgramConfig, _program),
    "behavior": (configs.BehaviorConfig, _behavior),
    "action_sequence": (configs.ActionsConfig, _actions),
    "skill_invocation": (configs.SkillsConfig, _skills),
    "tool_constraint": (configs.ToolsConfig, _constraints),
    "prompt": (configs.PromptConfig, _prompt),
}
