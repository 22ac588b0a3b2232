"""From eval.yaml and its task files to a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    FileSpec,
    JsonValue,
    Limits,
    Loaded,
    LoadRequest,
    SkillRef,
    SkillRole,
    Suite,
    SuiteDefaults,
    SuiteError,
    digest,
    read_document,
)
from skillgauge_skill_folders import bundled_files, contained, file_spec, leaks_of, load_each, read_skill, skill_ref

from .claiming import FORMAT, NAMES
from .files import EvalFile, GraderFile, InputsFile, TaskFile
from .graders import Given, checks_of, expectations
from .reading import Pointer, Reading
from .responders import user_of
from .servers import servers_of
from .skills import candidate, others

FIXTURES = "fixtures"
WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
COMMAND = "command"
KEPT = ("parallel", "max_workers", "fail_fast", "executor", "model", "max_attempts", "group_by")
"""Keys of `config` that are told and kept for writing back."""
_WHY = {
    "parallel": "--concurrency says how many trials run at the same time",
    "max_workers": "--concurrency says how many trials run at the same time",
    "fail_fast": "-x stops after the first failure",
    "executor": "--engine names the agent that runs",
    "model": "its names are Copilot's; --model names one of the engine",
    "max_attempts": "only failures that may go away are tried again, by --retries",
    "group_by": "reports have groups of their own",
}


def load(request: LoadRequest) -> Loaded:
    """One suite for each file.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    return load_each(request, NAMES, _suite)


@dataclass(frozen=True)
class _Task:
    """A task file that was read."""

    reading: Reading
    file: TaskFile
    path: Path


def _suite(file: Path) -> Suite:
    document = read_document(file, kind="yaml")
    reading = Reading(document, file.parent)
    read = reading.part(EvalFile, document.value)
    if read is None:
        raise SuiteError(reading.problems)
    _settings(reading, read)
    root = candidate(reading, read)
    distractors = tuple(others(reading, read, root)) if root is not None else ()
    tasks = tuple(_tasks(reading, read))
    cases = (*(_case(task, reading, read) for task in tasks), *_rows(reading, read))
    if servers := servers_of(reading, read):
        cases = tuple(case.model_copy(update={"installs": servers}) for case in cases)
    _unique(tasks, reading)
    if reading.problems or root is None:
        raise SuiteError(reading.problems)
    if not cases:
        reading.refuse("there is no task to run", "tasks", hint="Name files with tasks, as in: tasks/*.yaml")
        raise SuiteError(reading.problems)
    skill = read_skill(root)
    ref = _candidate_ref(root, skill.name, file, cases, [task.path for task in tasks])
    more = tuple(
        skill_ref(one, read_skill(one).name, leaks_of(one).paths, role=SkillRole.DISTRACTOR) for one in distractors
    )
    config = read.config
    return Suite(
        id=read.name,
        name=read.name,
        version=read.version or skill.version,
        description=read.description,
        format=FORMAT,
        root=str(file.parent),
        digest=digest(document.value, [task.reading.document.value for task in tasks], ref.digest),
        cases=cases,
        targets=(skill.target(),),
        arms=(
            Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=(ref, *more)),
            Arm(name=WITHOUT_SKILL, kind=ArmKind.AGENT, skills=more),
        ),
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
        defaults=SuiteDefaults(
            judge_model=config.judge_model,
            limits=Limits(timeout_s=float(config.timeout_seconds)),
            runs=config.trials_per_task,
            baseline=read.baseline,
        ),
        extras=_kept(document.value),
        warnings=(*skill.warnings, *reading.told.warnings()),
        origin=document.origin(),
    )


def _candidate_ref(root: Path, name: str, file: Path, cases: tuple[Case, ...], tasks: list[Path]) -> SkillRef:
    """The skill without its suite, should that lie inside."""
    root = root.resolve()
    commands = [str(check.options["command"]) for case in cases for check in case.checks if check.scorer == COMMAND]
    inside = [one.resolve() for one in (file, file.parent / FIXTURES, *tasks)]
    also = [one.relative_to(root).as_posix() for one in inside if one.is_relative_to(root)]
    return skill_ref(root, name, leaks_of(root, commands=commands, also=also).paths)


def _kept(value: JsonValue) -> dict[str, JsonValue]:
    """Return the keys that nothing executes, for writing back."""
    if not isinstance(value, Mapping) or not isinstance(config := value.get("config"), Mapping):
        return {}
    kept: dict[str, JsonValue] = {"config": {key: config[key] for key in (*KEPT, "mcp_servers") if key in config}}
    return kept | {key: value[key] for key in ("metrics", "mcp_mocks") if key in value}


def _settings(reading: Reading, read: EvalFile) -> None:
    """Refuse or tell what is set for the whole suite."""
    for key in KEPT:
        if getattr(read.config, key) is not None:
            reading.tell(f"{key} has no effect: {_WHY[key]}", "config", key)
    if read.metrics:
        reading.tell("metrics decide nothing: a gate is given by --gate or --min-completion", "metrics")
    for name, commands in (read.hooks or {}).items():
        if commands:
            hint = "Run it before or after skillgauge, or check by a grader of type program."
            reading.refuse("hooks are not run", "hooks", name, hint=hint)
    if read.range is not None and read.tasks_from is None:
        reading.refuse("range is for the rows of `tasks_from`", "range", hint="--case selects tasks.")
    if read.inputs and read.tasks_from is None:
        reading.tell("inputs fill in prompts from `tasks_from`, and there are none", "inputs")


def _tasks(reading: Reading, read: EvalFile) -> Iterator[_Task]:
    """The task files, sorted within each of the patterns."""
    if read.tasks_from is not None:
        if read.tasks:
            reading.tell("`tasks` has no effect beside `tasks_from`", "tasks")
        return
    paths: set[Path] = set()
    for number, pattern in enumerate(read.tasks):
        for path in _matches(reading, pattern, number):
            if path.resolve() in paths:
                continue
            paths.add(path.resolve())
            task = _task(reading, path)
            if task is not None:
                yield task


def _matches(reading: Reading, pattern: str, number: int) -> list[Path]:
    """The files of one pattern; none after telling what is wrong with it."""
    if not _is_below(pattern):
        hint = "As in: tasks/*.yaml"
        reading.refuse(f"{pattern!r} is no pattern below the suite's folder", "tasks", number, hint=hint)
        return []
    files = [path for path in sorted(reading.folder.glob(pattern)) if path.is_file()]
    if not files:
        reading.refuse(f"there is no file {pattern!r}", "tasks", number, hint="Write one, or correct the path.")
    return files


def _is_below(pattern: str) -> bool:
    """Tell whether a pattern stays below its folder and names each folder on the way."""
    path = Path(pattern)
    if not path.parts or path.is_absolute() or ".." in path.parts:
        return False
    return "**" not in pattern and "\0" not in pattern


def _task(reading: Reading, path: Path) -> _Task | None:
    """A task file; `None` after telling what is wrong with it."""
    try:
        inner = reading.of(read_document(path, kind="yaml"))
    except SuiteError as error:
        reading.problems += error.problems
        return None
    task = inner.part(TaskFile, inner.document.value)
    return None if task is None else _Task(inner, task, path)


def _unique(tasks: tuple[_Task, ...], reading: Reading) -> None:
    ids: set[str] = set()
    for task in tasks:
        if task.file.id in ids:
            task.reading.refuse(f"two tasks have the id {task.file.id!r}", "id", hint="Give one another id.")
        ids.add(task.file.id)
    names: set[str] = set()
    for number, grader in enumerate(_graders(reading)):
        if grader in names:
            reading.refuse(f"two graders are called {grader!r}", "graders", number, "name", hint="Rename one.")
        names.add(grader)


def _graders(reading: Reading) -> Iterator[str]:
    value = reading.document.value
    graders = value.get("graders") if isinstance(value, Mapping) else None
    for grader in graders if isinstance(graders, tuple) else ():
        yield str(grader.get("name")) if isinstance(grader, Mapping) else ""


def _case(task: _Task, suite: Reading, read: EvalFile) -> Case:
    """One task, with the graders of the suite that it does not replace by its own."""
    reading, file = task.reading, task.file
    fixtures = contained(suite.folder, file.context_dir or FIXTURES)
    if fixtures is None or (file.context_dir is not None and not fixtures.is_dir()):
        hint = "Name a folder beside eval.yaml."
        reading.refuse(f"there is no folder {file.context_dir!r} in that of the suite", "context_dir", hint=hint)
        fixtures = suite.folder / FIXTURES
    if file.inputs.context:
        reading.tell("context is for people: an agent is asked the prompt alone", "inputs", "context")
    for place in _templates(file.inputs):
        reading.tell("a template in a prompt stays as it is, as in waza", *place)
    checks = (*_checks(suite, read, file, reading, fixtures),)
    if not checks and not reading.problems:
        reading.tell("this task has no grader, so that it passes whatever an agent does")
    return Case(
        id=file.id,
        name=file.name,
        description=file.description,
        tags=file.tags,
        prompt=file.inputs.prompt,
        turns=file.inputs.follow_up_prompts,
        user=user_of(reading, file.inputs),
        files=tuple(_files(reading, file, fixtures)),
        grader_files=_grader_files(suite.folder, checks),
        checks=checks,
        env=dict(file.inputs.environment),
        limits=Limits(timeout_s=float(file.timeout_seconds) if file.timeout_seconds else None),
        skip="" if file.enabled else "enabled: false",
        extras={"context": file.inputs.context} if file.inputs.context else {},
        origin=reading.document.origin(),
    )


def _grader_files(folder: Path, checks: tuple[Check, ...]) -> tuple[FileSpec, ...]:
    commands = [str(check.options["command"]) for check in checks if check.scorer == COMMAND]
    return bundled_files(folder, commands)


def _templates(inputs: InputsFile) -> Iterator[Pointer]:
    """Yield the places of prompts that look like templates."""
    places: list[Pointer] = [("inputs", "prompt")]
    places += [("inputs", "follow_up_prompts", number) for number in range(len(inputs.follow_up_prompts))]
    for place, prompt in zip(places, (inputs.prompt, *inputs.follow_up_prompts), strict=True):
        if "{{" in prompt and "}}" in prompt:
            yield place


def _checks(suite: Reading, read: EvalFile, task: TaskFile | None, reading: Reading, fixtures: Path) -> Iterator[Check]:
    own = {one.name for one in task.graders} if task is not None else set()
    for number, grader in enumerate(read.graders):
        if grader.name not in own:
            yield from _of_grader(suite, grader, number, fixtures, read)
    if task is None:
        return
    for number, grader in enumerate(task.graders):
        if grader.name in [one.name for one in task.graders[:number]]:
            hint = "Rename one."
            reading.refuse(f"two graders are called {grader.name!r}", "graders", number, "name", hint=hint)
        else:
            yield from _of_grader(reading, grader, number, fixtures, read)
    yield from expectations(task.expected, Given(reading, ("expected",), fixtures, read.baseline), read.skill)


def _of_grader(reading: Reading, grader: GraderFile, number: int, fixtures: Path, read: EvalFile) -> Iterator[Check]:
    return checks_of(grader, Given(reading, ("graders", number, "config"), fixtures, read.baseline))


def _files(reading: Reading, task: TaskFile, fixtures: Path) -> Iterator[FileSpec]:
    for number, file in enumerate(task.inputs.files):
        place = ("inputs", "files", number)
        if contained(fixtures, file.path) is None:
            reading.refuse(f"{file.path!r} is no place in the workspace", *place, hint="Give a relative path.")
        elif file.content:
            yield FileSpec(path=file.path, text=file.content)
        elif (source := reading.file(fixtures, file.path, *place)) is not None:
            yield file_spec(source, file.path)


def _rows(reading: Reading, read: EvalFile) -> Iterator[Case]:
    """A case for each row of the CSV that `tasks_from` names."""
    if read.tasks_from is None:
        return
    reading.refuse(
        "tasks are not made from the rows of a table",
        "tasks_from",
        hint="Write a task file for each row, and name them by `tasks`.",
    )
    yield from ()
