"""From graders to checks: one entry for each type, one check for each thing that a scorer decides."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from skillgauge.api import JsonObject, JsonValue, did_you_mean, text_of
from skillgauge_patterns import PatternError, from_javascript

from ..source import configs
from ..source.files import GraderFile, StrictPart
from ..source.patterns import JAVASCRIPT, nowhere, options_of
from .calls import calls, skills
from .commands import PYTHON, no_file_command, output_command
from .making import ANSWERED, Context, Made
from .rubrics import criterion

Maker = Callable[[Any, Context], Iterator[Made]]
COMMAND_S, LONGEST_S = 60.0, 3600.0
_NO_FOLDER = 125
"""Exit code of a command whose folder is not there."""
_WILDCARDS = re.compile(r"[*?]")
_OTHER_WILDCARDS = re.compile(r"[\[\]{}]|[!@+*?]\(")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")


def made_of(grader: GraderFile, context: Context) -> list[Made]:
    """Return the checks of one grader; none, with a problem, if it cannot be honoured."""
    if grader.type in _REFUSED:
        message, hint = _REFUSED[grader.type]
        context.reading.cannot(f"{grader.type}: {message}", *context.place[:-1], "type", hint=hint)
        return []
    entry = _TYPES.get(grader.type)
    if entry is None:
        near = did_you_mean(grader.type, tuple(_TYPES))
        place, hint = (*context.place[:-1], "type"), f"Use one of {', '.join(_TYPES)}."
        if near:
            context.reading.refuse(f"there is no grader of type {grader.type!r}{near}", *place, hint=hint)
        else:
            message = f"there is no grader of type {grader.type!r}, unless a plugin of Vally brings it"
            context.reading.cannot(message, *place, hint=f"Say the same with run-command. {hint}")
        return []
    model, make = entry
    config = context.reading.part(model, grader.config or {}, *context.place)
    if config is None:
        return []
    count = len(context.reading.problems)
    parts = list(make(config, context))
    if not parts and len(context.reading.problems) == count and grader.type not in _PERHAPS_NOTHING:
        context.refuse("this grader checks nothing", hint="Say what it looks for, or take it out.")
    return parts


def _output_pattern(config: configs.PatternConfig, context: Context, *, negated: bool = False) -> Iterator[Made]:
    pattern = context.pattern(config.pattern, "pattern")
    absent = config.negate is not negated
    yield Made("pattern", "regex", {**options_of(config.pattern, pattern), "absent": absent})


def _substring(
    config: configs.SubstringConfig, context: Context, *, negated: bool = False, messages: bool = False
) -> Iterator[Made]:
    options: dict[str, JsonValue] = {
        "keywords": (config.substring,),
        "case_sensitive": config.case_sensitive,
        "absent": config.negate is not negated,
    }
    yield Made("substring", "contains", {**options, "stream": "messages"} if messages else options)


def _answered(_config: configs.NoConfig, context: Context) -> Iterator[Made]:
    context.reading.tell("a session that breaks is an error here, and no failed check", *context.place[:-1])
    yield Made("answered", "regex", {"patterns": (ANSWERED,), "absent": False})


def _prompt(config: configs.PromptConfig, context: Context) -> Iterator[Made]:
    if config.prompt is None and not context.rubric:
        hint = "Give the stimulus a rubric, or the grader a prompt in `config`."
        context.refuse("there is nothing to judge by", hint=hint)
        return
    model: dict[str, JsonValue] = {"model": config.model} if config.model is not None else {}
    text = criterion(config.prompt, context.rubric)
    if config.scoring != "binary":
        context.tell("a judge gives one number from 0 to 1 for the whole rubric, which has to reach the threshold")
        yield Made("prompt", "rubric", {"criteria": text, "scale": "0-1", "threshold": config.threshold, **model})
    elif config.prompt is None and not context.averages:
        yield Made("rubric", "rubric", {"claims": context.rubric, **model})
    elif context.averages or not context.rubric:  # the value of several would be the share that holds
        yield Made("prompt", "rubric", {"criteria": text, **model})
    else:
        yield Made("prompt", "rubric", {"criteria": (config.prompt, *context.rubric), **model})


def _pairwise(_config: configs.PairwiseConfig, context: Context) -> Iterator[Made]:
    message = "pairwise has no part in a run of Vally either, only in `vally compare`; --baseline compares the arms"
    context.reading.tell(message, *context.place[:-1])
    yield from ()


def _is_path(path: str, context: Context) -> bool:
    """Tell whether a path can be looked for; else note why not."""
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        context.refuse(f"{path!r} does not stay inside the workspace", "path", hint="Give a relative path.")
    elif _OTHER_WILDCARDS.search(path):
        context.cannot(f"{path!r} has wildcards that are not known here", "path", hint="Use *, ** and ? alone.")
    else:
        return True
    return False


def _file(config: configs.FileConfig, context: Context, *, negated: bool = False) -> Iterator[Made]:
    if _is_path(config.path, context):
        state = "absent" if config.negate is not negated else "present"
        yield Made(state, "files", {"path": config.path, "state": state})


def _file_text(config: configs.FileTextConfig, context: Context, *, negated: bool = False) -> Iterator[Made]:
    if not _is_path(config.path, context):
        return
    if config.negate is negated:
        yield Made("content", "files", {"path": config.path, "contains": (config.value,)})
    elif _WILDCARDS.search(config.path):
        yield _in_no_file(config.path, {"value": config.value})
    else:
        context.tell("a file that is not there fails here, also where it may not have something", "path")
        yield Made("content", "files", {"path": config.path, "lacks": (config.value,)})


def _file_pattern(config: configs.FilePatternConfig, context: Context, *, negated: bool = False) -> Iterator[Made]:
    if not _is_path(config.path, context):
        return
    pattern = context.pattern(config.pattern, "pattern")
    if config.negate is negated:
        plain = options_of(config.pattern, pattern)
        options: dict[str, JsonValue] = {**JAVASCRIPT, "patterns": (pattern,)}
        yield Made("content", "files", {"path": config.path, **(options if "case_sensitive" in plain else plain)})
    elif _WILDCARDS.search(config.path):
        python = {"pattern": _for_python(pattern, context, "pattern")}
        yield _in_no_file(config.path, {"pattern": config.pattern, PYTHON: python})
    else:
        context.tell("a file that is not there fails here, also where it may not have something", "path")
        yield Made("content", "files", {**JAVASCRIPT, "path": config.path, "patterns": (nowhere(pattern),)})


def _in_no_file(path: str, demand: JsonObject) -> Made:
    """Return the check that no file of several has something: a scorer is content with one that has it not."""
    command = no_file_command({"path": path, **demand})
    label = f"{demand.get('value', demand.get('pattern'))!r} is in no file {path}"
    return Made("content", "command", {"command": command, "label": label})


def _for_python(pattern: str, context: Context, *pointer: str | int) -> str:
    """Return a pattern as a program in Python looks for it; one that it cannot read is a problem."""
    try:
        rewritten = from_javascript(pattern)
        re.compile(rewritten)
    except PatternError:  # noted already
        return pattern
    except (re.error, RecursionError, OverflowError) as error:
        hint = "Write it more simply; here it is looked for by Python's own `re`."
        context.refuse(f"pattern {pattern!r} is not valid: {error}", *pointer, hint=hint)
        return pattern
    return rewritten


def _command(config: configs.CommandConfig, context: Context) -> Iterator[Made]:
    command = config.command if config.args is None else shlex.join((config.command, *config.args))
    if config.sub_path is not None:
        folder = PurePosixPath(config.sub_path)
        if folder.is_absolute() or ".." in folder.parts:
            context.refuse("this is no folder of the workspace", "sub_path", hint="Give a relative path.")
        command = f"cd {shlex.quote(config.sub_path)} || exit {_NO_FOLDER}\n{command}"
    for name in config.env:
        if not _VARIABLE.fullmatch(name):
            context.refuse(f"{name!r} is no name of a variable", "env", name, hint="Use letters, digits and _ alone.")
    exports = "".join(f"export {name}={shlex.quote(text_of(value))}\n" for name, value in config.env.items())
    timeout_s = (
        COMMAND_S if config.timeout is None else context.reading.seconds(config.timeout, *context.place, "timeout")
    )
    if timeout_s is not None and timeout_s > LONGEST_S:
        context.refuse("a command may run for an hour", "timeout", hint="Write 1h or less.")
    options: dict[str, JsonValue] = {"command": f"{exports}{command}", "fail_codes": "any", "timeout_s": timeout_s}
    demand = _output_demand(config, context)
    if demand:
        demand |= {"command": options["command"], "expected_exit_code": config.expected_exit_code}
        options |= {"command": output_command(demand), "label": options["command"]}
    elif config.expected_exit_code:
        options["expect_exit_code"] = config.expected_exit_code
    yield Made("command", "command", options)


def _output_demand(config: configs.CommandConfig, context: Context) -> dict[str, JsonValue]:
    """Return what the output of a command has to be; empty if it does not matter."""
    demand: dict[str, JsonValue] = {}
    for key in ("stdout_contains", "stderr_contains"):
        if (text := getattr(config, key)) is not None:
            demand[key] = text
    python: dict[str, JsonValue] = {}
    for key in ("stdout_matches", "stdout_not_matches"):
        if (text := getattr(config, key)) is not None:
            demand[key] = text
            python[key] = _for_python(context.pattern(text, key), context, key)
    return demand | ({PYTHON: python} if python else {})


def _most(config: configs.MostConfig, _context: Context, *, limit: str) -> Iterator[Made]:
    yield Made(limit, "usage", {limit: config.max})


def _most_calls(config: configs.MostCallsConfig, context: Context) -> Iterator[Made]:
    if config.tools is not None:
        hint = "Leave `tools` out, or use tool-calls with `disallowed`."
        context.cannot("calls of certain tools are not counted", "tools", hint=hint)
    yield from _most(config, context, limit="tool_calls")


def _most_time(config: configs.MostTimeConfig, context: Context) -> Iterator[Made]:
    seconds = context.reading.seconds(config.max, *context.place, "max")
    if seconds is not None:
        yield Made("duration_s", "usage", {"duration_s": seconds})


def _untouched(_config: configs.NoConfig, _context: Context) -> Iterator[Made]:
    yield Made("untouched", "files", {"path": "**", "state": "untouched"})


_TYPES: dict[str, tuple[type[StrictPart], Maker]] = {
    "output-matches": (configs.PatternConfig, _output_pattern),
    "output-not-matches": (configs.PatternConfig, partial(_output_pattern, negated=True)),
    "output-contains": (configs.SubstringConfig, _substring),
    "output-not-contains": (configs.SubstringConfig, partial(_substring, negated=True)),
    "transcript-contains": (configs.SubstringConfig, partial(_substring, messages=True)),
    "transcript-not-contains": (configs.SubstringConfig, partial(_substring, messages=True, negated=True)),
    "prompt": (configs.PromptConfig, _prompt),
    "exit-success": (configs.NoConfig, _answered),
    "completed": (configs.NoConfig, _answered),
    "file-exists": (configs.FileConfig, _file),
    "file-not-exists": (configs.FileConfig, partial(_file, negated=True)),
    "file-contains": (configs.FileTextConfig, _file_text),
    "file-not-contains": (configs.FileTextConfig, partial(_file_text, negated=True)),
    "file-matches": (configs.FilePatternConfig, _file_pattern),
    "file-not-matches": (configs.FilePatternConfig, partial(_file_pattern, negated=True)),
    "run-command": (configs.CommandConfig, _command),
    "skill-invocation": (configs.SkillsConfig, skills),
    "tool-calls": (configs.CallsConfig, calls),
    "tool-call-count": (configs.MostCallsConfig, _most_calls),
    "turn-count": (configs.MostConfig, partial(_most, limit="turns")),
    "token-budget": (configs.MostConfig, partial(_most, limit="tokens")),
    "wall-time": (configs.MostTimeConfig, _most_time),
    "diff-empty": (configs.NoConfig, _untouched),
    "pairwise": (configs.PairwiseConfig, _pairwise),
}
_PERHAPS_NOTHING = ("skill-invocation", "pairwise")
"""Graders that look for nothing if no such skill is installed, or in a run alone."""
_REFUSED = {
    "program": ("a program is not given Vally's own JSON", "Use run-command, whose exit code decides."),
    "transcript-matches": (
        "no pattern is looked for in all that an agent says",
        "Use transcript-contains for a text, or output-matches for the answer.",
    ),
    "transcript-not-matches": (
        "no pattern is looked for in all that an agent says",
        "Use transcript-not-contains for a text, or output-not-matches for the answer.",
    ),
    "error-count": ("errors within a session are not counted", "Use completed: a session that breaks is an error."),
    "assistant-contains-tool-output": (
        "the output of tools is not compared with the answer",
        "Use output-contains with the text that has to be there.",
    ),
    "diff-contains": ("the changes of a file are not kept as a text", "Use file-contains for the file."),
    "diff-not-contains": ("the changes of a file are not kept as a text", "Use file-not-contains for the file."),
    "panel": ("judges are not named by a suite", "Use prompt, and name each judge of a panel by --judge."),
}
KNOWN_TYPES = (*_TYPES, *_REFUSED)
