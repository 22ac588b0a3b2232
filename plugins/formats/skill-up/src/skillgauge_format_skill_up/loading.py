"""From eval.yaml and its case files to a suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Comparison,
    Install,
    JsonValue,
    LimitOutcome,
    Limits,
    Loaded,
    LoadRequest,
    SimulatedUser,
    SkillRef,
    Suite,
    SuiteDefaults,
    SuiteError,
    digest,
    read_document,
)
from skillgauge_skill_folders import load_each, object_in

from .claiming import FORMAT, NAMES
from .conversation.turns import Turns
from .conversation.users import user_of
from .drafts import COMMAND
from .expectations import Expected, expectations
from .files import CaseFile, EngineFile, EvalFile
from .judges import Judge, common_judge, graded, judges_of, verdict_of
from .reading import Reading
from .rules import conditions
from .servers.reading import Servers, joined
from .skills import Installed, installed, skill_root
from .workspace import environment, files, setup

WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
TIMEOUT_S = 300
ENGINES = {"claude_code": "claude-code", "claude-code": "claude-code", "codex": "codex"}
"""Engines of skill-up that are engines here."""
_TURNS = "max_turns counts messages of a user, who says what the case has; --max-turns bounds what an agent does"
_ARTIFACTS = "collect_artifacts decides nothing; --keep-workspaces leaves everything that a session made"


def load(request: LoadRequest) -> Loaded:
    """One suite for each file.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    return load_each(request, NAMES, _suite)


@dataclass(frozen=True)
class _Source:
    """A case file that was read."""

    reading: Reading
    file: CaseFile
    path: Path

    @property
    def id(self) -> str:
        return self.file.id or self.path.stem


@dataclass(frozen=True)
class _Common:
    """The parts of a suite that all cases share."""

    reading: Reading
    file: EvalFile
    env: Mapping[str, str]
    servers: Mapping[str, Install]
    judge_model: str | None = None


def _suite(file: Path) -> Suite:
    document = read_document(file, kind="yaml")
    reading = Reading(document, skill_root(file), file.resolve().parent)
    read = reading.part(EvalFile, document.value)
    if read is None:
        raise SuiteError(reading.problems)
    _settings(reading, read)
    common_judge(reading, read)
    skills = installed(reading, read.skills)
    sources = tuple(_sources(reading, read))
    _unique(sources)
    judges = [judges_of(reading, read, source.reading, source.file) for source in sources]
    models = {judge.model for listed in judges for judge in listed if judge.file.type == "agent_judge"}
    servers = Servers(reading, read.mcp.servers).installs()
    common = _Common(reading, read, environment(reading, read.environment), servers, _only(models))
    cases = tuple(_case(common, source, listed) for source, listed in zip(sources, judges, strict=True))
    if reading.problems:
        raise SuiteError(reading.problems)
    _tell_unlisted(reading, file, sources)
    return _assembled(common, file, skills, sources, cases)


def _assembled(
    common: _Common, file: Path, skills: Sequence[Installed], sources: Sequence[_Source], cases: tuple[Case, ...]
) -> Suite:
    reading, skill = common.reading, skills[0].skill
    refs = _refs(reading, file, skills, sources, cases)
    contents = [content.content_id for case in cases for content in (*case.files, *case.grader_files)]
    documents = [source.reading.document.value for source in sources]
    return Suite(
        id=skill.name,
        name=skill.name,
        version=skill.version,
        description=skill.description,
        format=FORMAT,
        root=str(file.parent),
        digest=digest(reading.document.value, documents, contents, [ref.digest for ref in refs]),
        cases=cases,
        targets=tuple(one.skill.target() for one in skills),
        arms=(
            Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=refs),
            Arm(name=WITHOUT_SKILL, kind=ArmKind.AGENT),
        ),
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
        defaults=_defaults(common),
        on_agent_limit=LimitOutcome.ERROR,
        extras=_kept(reading.document.value),
        warnings=(*(one for item in skills for one in item.skill.warnings), *reading.notices.warnings()),
        origin=reading.document.origin(),
    )


def _refs(
    reading: Reading, file: Path, skills: Sequence[Installed], sources: Sequence[_Source], cases: Sequence[Case]
) -> tuple[SkillRef, ...]:
    """The skills without the suite, should that lie inside."""
    commands = [str(check.options["command"]) for case in cases for check in case.checks if check.scorer == COMMAND]
    of_suite = [file.resolve(), *(source.path for source in sources), *_named(reading, sources)]
    return tuple(one.ref(commands, of_suite) for one in skills)


def _defaults(common: _Common) -> SuiteDefaults:
    written = common.file.engine
    engine = _engine(common.reading, written) if written is not None else None
    model = written.model.name if written is not None and engine is not None else ""
    return SuiteDefaults(
        engine=engine,
        model=model or None,
        judge_model=common.judge_model,
        limits=Limits(timeout_s=float(common.file.cases.defaults.timeout_seconds or TIMEOUT_S)),
        baseline=common.file.benchmark.enabled,
    )


def _kept(value: JsonValue) -> dict[str, JsonValue]:
    """Return the keys that nothing executes, for writing back."""
    assert isinstance(value, Mapping)
    cases = value.get("cases")
    assert isinstance(cases, Mapping)
    kept: dict[str, JsonValue] = {key: cases[key] for key in ("parallelism", "retry_policy") if key in cases}
    return ({"cases": kept} if kept else {}) | ({"report": value["report"]} if "report" in value else {})


def _only(models: set[str | None]) -> str | None:
    """Return the model that all judges of a suite ask; `None` if they ask several."""
    return next(iter(models)) if len(models) == 1 else None


def _settings(reading: Reading, read: EvalFile) -> None:
    """Refuse or tell what is set for the whole suite."""
    notices = {
        "parallelism": "--concurrency says how many trials run at the same time",
        "retry_policy": "only failures that may go away are tried again, by --retries",
    }
    for key, why in notices.items():
        if getattr(read.cases, key) is not None:
            reading.tell(f"{key} has no effect: {why}", "cases", key)
    if read.report is not None:
        reading.tell("report has no effect: reports are chosen on the command line", "report")
    if read.cases.defaults.max_turns:
        reading.tell(_TURNS, "cases", "defaults", "max_turns")
    if read.cases.defaults.collect_artifacts:
        reading.tell(_ARTIFACTS, "cases", "defaults", "collect_artifacts")


def _engine(reading: Reading, written: EngineFile) -> str | None:
    """The engine here that is the suite's; none after telling that the user has to name one."""
    engine = ENGINES.get(written.name)
    if engine is None:
        reading.tell(f"engine {written.name!r} is none here: --engine names the agent that runs", "engine", "name")
    for key in sorted(written.model_fields_set - {"name", "model"}):
        reading.tell(f"{key} has no effect: an engine is set up by its own options", "engine", key)
    for key in sorted(written.model.model_fields_set - {"name"}):
        if getattr(written.model, key):
            message = f"{key} has no effect: an engine's own options say who serves a model"
            reading.tell(message, "engine", "model", key)
    return engine


def _sources(reading: Reading, read: EvalFile) -> Iterator[_Source]:
    """The case files in their order."""
    if not read.cases.files:
        hint = "List the files of cases, as in: files: [evals/cases/first.yaml]"
        reading.refuse("there is no case to run", "cases", hint=hint)
    paths: set[Path] = set()
    for number, written in enumerate(read.cases.files):
        place = ("cases", "files", number)
        path = reading.place(written, *place)
        if path in paths:
            reading.refuse(f"{written!r} is listed twice", *place, hint="Take it out.")
        elif path is not None:
            paths.add(path)
            yield from _source(reading, path)


def _source(reading: Reading, path: Path) -> Iterator[_Source]:
    """A case file; none after telling what is wrong with it."""
    try:
        inner = reading.of(read_document(path, kind="yaml"))
    except SuiteError as error:
        reading.problems += error.problems
        return
    file = inner.part(CaseFile, inner.document.value)
    if file is not None:
        yield _Source(inner, file, path)


def _unique(sources: Sequence[_Source]) -> None:
    ids: set[str] = set()
    for source in sources:
        if source.id in ids:
            source.reading.refuse(f"two cases have the id {source.id!r}", "id", hint="Give one another id.")
        ids.add(source.id)


def _tell_unlisted(reading: Reading, file: Path, sources: Sequence[_Source]) -> None:
    """Tell which files beside those of cases are cases, too, and are not run."""
    listed = {source.path for source in sources} | {file.resolve()}
    folders = dict.fromkeys(source.path.parent for source in sources)
    beside = [path for folder in folders for path in sorted(folder.glob("*.y*ml")) if path not in listed]
    unlisted = [reading.relative(path) for path in beside if "input" in (object_in(path, (path.name,)) or {})]
    if unlisted:
        message = f"cases that are not listed are not run: {', '.join(unlisted)}"
        reading.tell(message, "cases", "files")


def _named(reading: Reading, sources: Sequence[_Source]) -> Iterator[Path]:
    """Yield what cases name beside their own files: templates, patches and golden answers."""
    expected = [reading.document.value, *(source.reading.document.value for source in sources)]
    for value in expected:
        yield from _places(reading, value)


def _places(reading: Reading, value: JsonValue) -> Iterator[Path]:
    silent = replace(reading, problems=[])
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and key in ("repo_fixture", "apply_diff", "golden_file", "script_path"):
                path = silent.place(item, is_folder=key == "repo_fixture")
                if path is not None:
                    yield path
            else:
                yield from _places(reading, item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _places(reading, item)


def _case(common: _Common, source: _Source, judges: Sequence[Judge]) -> Case:
    reading, file = source.reading, source.file
    own_servers = Servers(reading, file.mcp.servers).installs(is_of_case=True)
    messages, scripted = _messages(common.file, file, reading)
    user = user_of(common.file, file, reading) or scripted
    if file.constraints.max_turns and (user is None or user is scripted):
        reading.tell(_TURNS, "constraints", "max_turns")
    if file.collect_artifacts:
        reading.tell(_ARTIFACTS, "collect_artifacts")
    shared = Expected(common.file.cases.defaults.expect, common.reading, ("cases", "defaults", "expect"))
    expected = (
        *expectations(shared, Expected(file.expect, reading, ("expect",))),
        *conditions(file.input.turns, reading),
    )
    verdicts = [
        verdict_of(judge, common.judge_model, len(file.input.turns)) for judge in judges if judge.file.type is not None
    ]
    checks, rule = graded(expected, verdicts)
    if not checks and not reading.problems:
        message = "this case asserts nothing but that the session ends, so that it has no verdict: add expect or judge"
        reading.tell(message)
    commands, setup_files = setup(reading, common.file.environment, file.context.git)
    timeout_s = file.constraints.timeout_seconds
    return Case(
        id=source.id,
        name=file.title,
        description=file.description,
        tags=(file.tag,) if file.tag is not None else (),
        prompt=messages[0],
        turns=messages[1:],
        user=user,
        installs=joined(common.servers, own_servers),
        files=files(reading, file.context),
        setup=commands,
        setup_files=setup_files,
        grader_files=tuple({spec.path: spec for verdict in verdicts for spec in verdict.files}.values()),
        checks=checks,
        rule=rule,
        env=dict(common.env),
        limits=Limits(timeout_s=float(timeout_s) if timeout_s else None),
        origin=reading.document.origin(),
    )


def _messages(suite: EvalFile, file: CaseFile, reading: Reading) -> tuple[tuple[str, ...], SimulatedUser | None]:
    """Return what the user says, the prompt or the turns of a conversation, and who says what is not known before."""
    written = file.input
    if written.turns and written.prompt:
        hint = "Take one of them out."
        reading.refuse("a case has a prompt or turns, and not both", "input", "turns", hint=hint)
    if not written.turns:
        if not written.prompt.strip():
            reading.refuse("there is no prompt", "input", hint="Write what the agent is asked: prompt: ...")
        return (written.prompt,), None
    messages, user = Turns(suite, file, reading).read()
    return messages or ("",), user
