"""From eval.yaml to a suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    Document,
    FileSpec,
    JsonValue,
    Limits,
    Loaded,
    LoadRequest,
    Problem,
    Severity,
    Suite,
    SuiteDefaults,
    SuiteError,
    VerdictMode,
    VerdictRule,
    digest,
    read_document,
)
from skillgauge_skill_folders import (
    bundled_files,
    bytes_of,
    contained,
    file_spec,
    find_skill,
    leaks_of,
    load_each,
    read_skill,
    skill_ref,
)
from skillgauge_validation import validate

from .claiming import FORMAT, NAMES
from .files import DefaultsFile, EvalFile, GraderFile, MappingFile, TaskFile

WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
COMMAND, RUBRIC = "command", "rubric"
_MAX_BYTES = 4 * 1024 * 1024
"""Of a file that holds a text of the suite."""
RULE = VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)
"""A trial of skillgrade passes with half of the weighted mean of its graders."""
ENGINES = {"claude": "claude-code", "codex": "codex"}
GRADER_TIMEOUT_S = 300.0
_EXECUTABLE = re.compile(r"(?:[ua]*\+r?x|0?7[0-7]{2}|0?[0-7]*[1357][0-7]*)")
_NEAR = 0.8
"""Share of letters that a misspelt key has in common with the right one."""
Pointer = tuple[str | int, ...]


def load(request: LoadRequest) -> Loaded:
    """One suite for each file.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    return load_each(request, NAMES, _suite)


@dataclass
class _Reading:
    """One file and what is wrong with it."""

    document: Document
    root: Path
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def refuse(self, message: str, *pointer: str | int, hint: str | None = None) -> None:
        self.problems.append(Problem("suite.unsupported", message, origin=self.document.origin(*pointer), hint=hint))

    def warn(self, message: str, *pointer: str | int) -> None:
        origin = self.document.origin(*pointer)
        self.warnings.append(Problem("suite.ignored", message, origin=origin, severity=Severity.WARNING))

    def text(self, written: str, *pointer: str | int) -> str:
        """A text, or the content of the file that it names."""
        stripped = written.strip()
        if "\n" in stripped:
            return stripped
        path = contained(self.root, stripped)
        if path is None or not path.is_file():
            return stripped
        data = bytes_of(path, _MAX_BYTES)
        if data is None:
            self.refuse(f"{stripped!r} cannot be read, or is larger than {_MAX_BYTES:,} bytes", *pointer)
            return stripped
        try:
            return data.decode().strip()
        except UnicodeDecodeError as error:
            self.refuse(f"{stripped!r} cannot be read: {error}", *pointer)
            return stripped


def _suite(file: Path) -> Suite:
    document = read_document(file, kind="yaml")
    reading = _Reading(document, file.parent)
    try:
        read = validate(EvalFile, document.value, document)
    except SuiteError as error:
        read, reading.problems = None, [*error.problems]
    skill_file = _skill(reading, read) if read else None
    if read is None or skill_file is None:
        raise SuiteError(reading.problems)
    skill = read_skill(skill_file)
    _defaults(reading, read.defaults)
    cases = tuple(_case(reading, read, index) for index in range(len(read.tasks)))
    _further_keys(reading, read)
    names = [task.name for task in read.tasks]
    for index, name in enumerate(names):
        if name in names[:index]:
            reading.refuse(f"two tasks are called {name!r}", "tasks", index, "name", hint="Give one another name.")
    if reading.problems:
        raise SuiteError(reading.problems)
    commands = [str(check.options["command"]) for case in cases for check in case.checks if check.scorer == COMMAND]
    also = [file.relative_to(skill.root).as_posix()] if file.is_relative_to(skill.root) else []
    ref = skill_ref(skill.root, skill.name, leaks_of(skill.root, commands=commands, also=also).paths)
    target = skill.target()
    defaults = read.defaults
    return Suite(
        id=skill.name,
        name=skill.name,
        version=skill.version,
        description=skill.description,
        format=FORMAT,
        root=str(file.parent),
        digest=digest(document.value, ref.digest),
        cases=cases,
        targets=(target,),
        arms=(Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=(ref,)), Arm(name=WITHOUT_SKILL, kind=ArmKind.AGENT)),
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
        defaults=SuiteDefaults(
            engine=ENGINES.get(defaults.agent or ""),
            judge_model=defaults.grader_model,
            limits=Limits(timeout_s=defaults.timeout),
            runs=defaults.trials,
            baseline=False,
        ),
        extras={"defaults": _kept(document.value)},
        warnings=(*skill.warnings, *reading.warnings),
        origin=document.origin(),
    )


def _kept(value: JsonValue) -> JsonValue:
    """Defaults that nothing executes, for writing back."""
    defaults = value.get("defaults") if isinstance(value, Mapping) else None
    keys = ("provider", "threshold", "environment", "agent")
    return {key: defaults[key] for key in keys if key in defaults} if isinstance(defaults, Mapping) else {}


def _skill(reading: _Reading, read: EvalFile) -> Path | None:
    """The folder of the skill that is named, beside the file, or the only one in `skills`."""
    if read.skill is not None:
        path = (reading.root / read.skill).resolve()
        folder = path.parent if path.name == "SKILL.md" else path
        if (folder / "SKILL.md").is_file():
            return folder
        reading.refuse(f"there is no skill at {read.skill!r}", "skill")
        return None
    if (skill := find_skill(Path(reading.document.file))) is not None:
        return skill
    below = sorted({path.parent for path in reading.root.glob("skills/*/SKILL.md")})
    if len(below) == 1:
        return below[0]
    hint = "Name one: skill: skills/NAME" if below else "Put the file into the skill's folder, or name it: skill: PATH"
    reason = f"several: {', '.join(one.name for one in below)}" if below else "none"
    reading.refuse(f"the suite is about one skill, and there is {reason}", hint=hint)
    return None


def _defaults(reading: _Reading, defaults: DefaultsFile) -> None:
    if defaults.acp is not None:
        reading.refuse(
            "a command of an ACP agent is not taken from a suite", "defaults", "acp", hint="Use --engine acp."
        )
    if defaults.docker:
        hint = "Take it out, and choose an image by --set sandboxes.docker.image=NAME."
        reading.refuse("images are not built from a suite", "defaults", "docker", hint=hint)
    if defaults.agent is not None and defaults.agent not in ENGINES:
        reading.warn(
            f"there is no engine for the agent {defaults.agent!r}; --engine names another", "defaults", "agent"
        )
    for key, subject in (
        ("provider", "where sessions run is chosen by --sandbox"),
        ("environment", "the sandbox has limits of its own"),
        ("threshold", "it gates nothing here; a gate is given by --gate"),
    ):
        if getattr(defaults, key) is not None:
            reading.warn(f"{key} is not used: {subject}", "defaults", key)


def _further_keys(reading: _Reading, read: EvalFile) -> None:
    """Tell keys of tasks that are for another tool, each once, and refuse those that are nearly one of skillgrade's."""
    places: dict[str, list[int]] = {}
    for index, task in enumerate(read.tasks):
        for key in task.model_extra or ():
            places.setdefault(key, []).append(index)
    for key, tasks in places.items():
        near = get_close_matches(key, TaskFile.model_fields, n=1, cutoff=_NEAR)
        if near:
            message = f"unknown key {key!r} (did you mean {near[0]}?)"
            origins = [reading.document.origin("tasks", index, key) for index in tasks]
            reading.problems += [Problem("suite.unknown-key", message, origin=origin) for origin in origins]
        else:
            count = f"{len(tasks)} tasks" if len(tasks) > 1 else "a task"
            message = f"{key!r} of {count} is not used: skillgrade has no such key, and grades by `graders` alone"
            reading.warn(message, "tasks", tasks[0], key)


def _case(reading: _Reading, read: EvalFile, index: int) -> Case:
    task, here = read.tasks[index], ("tasks", index)
    for key in ("agent", "provider", "grader_model", "docker", "environment"):
        value = getattr(task, key)
        if value is not None and value != getattr(read.defaults, key):
            hint = "Set it in `defaults`, or put the task into a file of its own."
            reading.refuse(f"{key} of a single task is not supported", *here, key, hint=hint)
    if task.solution is not None:
        reading.warn("a solution is not run here", *here, "solution")
    checks = tuple(_checks(reading, task, here))
    commands = [str(check.options["command"]) for check in checks if check.scorer == COMMAND]
    return Case(
        id=task.name,
        prompt=reading.text(task.instruction, *here, "instruction"),
        files=tuple(file for number in range(len(task.workspace)) for file in _files(reading, task, here, number)),
        grader_files=bundled_files(reading.root, commands),
        checks=checks,
        rule=RULE,
        limits=Limits(timeout_s=task.timeout),
        extras=_extras(task),
        runs=None if task.trials == read.defaults.trials else task.trials,
        origin=reading.document.origin(*here),
    )


def _extras(task: TaskFile) -> dict[str, JsonValue]:
    """Return what nothing executes, for writing back."""
    extras: dict[str, JsonValue] = {} if task.solution is None else {"solution": task.solution}
    return extras | ({"further": task.model_extra} if task.model_extra else {})


def _checks(reading: _Reading, task: TaskFile, here: Pointer) -> Iterator[Check]:
    for number, grader in enumerate(task.graders):
        place = (*here, "graders", number)
        if grader.setup:
            reading.refuse("setup of a grader is not run", *place, "setup", hint="Call it in `run`.")
        needed, other_key = ("run", "rubric") if grader.type == "deterministic" else ("rubric", "run")
        if getattr(grader, needed) is None:
            reading.refuse(f"a grader of type {grader.type} needs `{needed}`", *place)
            continue
        for key in (other_key, *(("model",) if needed == "run" else ())):
            if getattr(grader, key) is not None:
                reading.refuse(f"{key!r} means nothing for a grader of type {grader.type}", *place, key)
        options = _options(reading, grader, place)
        yield Check(
            id=f"{grader.type} {number + 1}",
            scorer=COMMAND if needed == "run" else RUBRIC,
            options=options,
            weight=grader.weight,
            origin=reading.document.origin(*place),
        )


def _options(reading: _Reading, grader: GraderFile, place: Pointer) -> dict[str, JsonValue]:
    if grader.run is not None:
        command = reading.text(grader.run, *place, "run")
        return {
            "command": command,
            "reads": "score",
            "threshold": 0.5,
            "fail_codes": "any",
            "timeout_s": GRADER_TIMEOUT_S,
        }
    options: dict[str, JsonValue] = {"criteria": reading.text(grader.rubric or "", *place, "rubric"), "scale": "0-1"}
    return options | ({"model": grader.model} if grader.model else {})


def _files(reading: _Reading, task: TaskFile, here: Pointer, number: int) -> Iterator[FileSpec]:
    entry, place = task.workspace[number], (*here, "workspace", number)
    file = MappingFile(src=entry, dest=PurePosixPath(entry).name or entry) if isinstance(entry, str) else entry
    source, dest = contained(reading.root, file.src), PurePosixPath(file.dest)
    if source is None or not source.is_file():
        reading.refuse(f"there is no file {file.src!r} in the suite's folder", *place)
    elif dest.is_absolute() or ".." in dest.parts or not dest.parts:
        reading.refuse(f"{file.dest!r} is no place in the workspace", *place, hint="Give a relative path.")
    elif file.chmod is not None and not _EXECUTABLE.fullmatch(file.chmod):
        reading.refuse(f"chmod {file.chmod!r} is not supported", *place, "chmod", hint="Only +x is.")
    else:
        spec = file_spec(source, str(dest))
        yield spec.model_copy(update={"executable": True}) if file.chmod is not None else spec
