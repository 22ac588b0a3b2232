"""From an EVAL.yaml to a suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Comparison,
    Limits,
    Loaded,
    LoadRequest,
    Origin,
    SkillRef,
    SkillRole,
    Suite,
    SuiteDefaults,
    SuiteError,
    Target,
    TargetKind,
    digest,
    read_document,
)
from skillgauge_assertions import Node
from skillgauge_skill_folders import leaks_of, load_each, read_skill, skill_ref

from .claiming import FORMAT, LISTS, NAMES
from .environment import extensions, files_in, workdir
from .keys import EVALUATE, EXECUTION, SUITE
from .reading import AgentvReading
from .skills import Skills, skills_for
from .tests_of_file import Shared, tests_of

AGENT, WITH_SKILL, WITHOUT_SKILL = "agent", "with_skill", "without_skill"
TRIGGER, COMMAND = "trigger", "command"
ENGINES = {
    **dict.fromkeys(("claude", "claude-cli", "claude-sdk", "claude-code"), "claude-code"),
    **dict.fromkeys(("codex", "codex-cli", "codex-sdk", "codex-app-server"), "codex"),
}
"""Providers that an engine here can be."""


def load(request: LoadRequest) -> Loaded:
    """One suite for each file.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    return load_each(request, NAMES, _suite)


@dataclass(frozen=True)
class _Run:
    """The settings under which the tests of a file are run."""

    repeat: int | None
    timeout_s: float | None
    engine: str | None
    model: str | None


def _suite(file: Path) -> Suite:
    document = read_document(file, kind="yaml")
    reading = AgentvReading(file.parent)
    config = Node(document.value, Origin(str(file)))
    if not reading.only(config, SUITE, "the file"):
        raise SuiteError(reading.problems)
    execution = config.at("execution")
    if execution.value is not None:
        reading.only(execution, EXECUTION, "execution")
    extensions(reading, config.at("extensions"))
    listed = reading.first(config, *LISTS)
    node = reading.first(config, "environment", "workspace")
    folder = workdir(reading, node)
    skills = skills_for(file, config, folder)
    common = files_in(reading, node, folder, skills.inside) if folder is not None else ()
    tests = tests_of(Shared(reading, config, listed, skills.names, common))
    run = _run(reading, config)
    if not tests and not reading.problems:
        reading.refuse(config, "there is no test", code="suite.value")
    if reading.problems:
        raise SuiteError(reading.problems)
    target, arms = _target_and_arms(file, skills, tests)
    written = config.at("name").value
    name = written if isinstance(written, str) and written else target.name
    description = config.at("description").value
    return Suite(
        id=name,
        name=name,
        description=description if isinstance(description, str) else "",
        format=FORMAT,
        root=str(file.parent),
        digest=digest(document.value, [one.checks_digest for one in tests], [one.digest for one in arms]),
        cases=tests,
        targets=(target,),
        arms=arms,
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),) if len(arms) > 1 else (),
        defaults=SuiteDefaults(
            engine=run.engine,
            model=run.model,
            limits=Limits(timeout_s=run.timeout_s),
            runs=run.repeat,
            baseline=False,
        ),
        warnings=(*(skills.candidate.warnings if skills.candidate else ()), *reading.told()),
        origin=config.origin,
    )


def _run(reading: AgentvReading, config: Node) -> _Run:
    options = config.at("evaluate_options")
    if options.value is not None:
        reading.only(options, EVALUATE, "evaluate_options")
    repeat = reading.positive(options.at("repeat"))
    seconds, milliseconds = (reading.positive(one) for one in (config.at("timeout_seconds"), options.at("timeout_ms")))
    engine, model = _provider(reading, config.at("providers"))
    timeout = float(seconds) if seconds else milliseconds / 1000 if milliseconds else None
    if repeat is not None and repeat != int(repeat):
        reading.refuse(options.at("repeat"), "repeat has to be a whole number", code="suite.value")
        repeat = None
    return _Run(int(repeat) if repeat else None, timeout, engine, model)


def _provider(reading: AgentvReading, node: Node) -> tuple[str | None, str | None]:
    """The first provider that an engine here can be; who is asked is the user's choice in any case."""
    nodes = list(node.items()) if isinstance(node.value, tuple) else [node] if node.value is not None else []
    provider: tuple[str | None, str | None] = (None, None)
    for one in nodes:
        name = one.value if isinstance(one.value, str) else one.at("id").value
        model = one.at("config").at("model").value
        engine = ENGINES.get(str(name).removeprefix("openai:").removeprefix("anthropic:"))
        if engine is None:
            reading.keep(one, "a provider that no engine here is", "--engine and --model name who is asked")
        elif provider[0] is None:
            provider = engine, model if isinstance(model, str) and model else None
        else:
            reading.keep(one, "a further provider", "one is asked, the first; --engine and --model name several")
    return provider


def _target_and_arms(file: Path, skills: Skills, tests: tuple[Case, ...]) -> tuple[Target, tuple[Arm, ...]]:
    """An agent with the skill, if there is one, and without it."""
    skill = skills.candidate
    others = tuple(
        skill_ref(one, read_skill(one).name, leaks_of(one).paths, role=SkillRole.DISTRACTOR) for one in skills.others
    )
    if skill is None:
        name = file.resolve().parent.name or FORMAT
        return Target(id=name, name=name, kind=TargetKind.AGENT), (Arm(name=AGENT, kind=ArmKind.AGENT, skills=others),)
    target = skill.target()
    with_skill = Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=(_candidate(file, skills, tests), *others))
    # Whether the skill was used is a part of the verdict, which the arm without it could never meet.
    if any(check.scorer == TRIGGER and check.options["should_trigger"] for one in tests for check in one.checks):
        return target, (with_skill,)
    return target, (with_skill, Arm(name=WITHOUT_SKILL, kind=ArmKind.AGENT, skills=others))


def _candidate(file: Path, skills: Skills, tests: tuple[Case, ...]) -> SkillRef:
    """The skill without its suite, and without what grades it."""
    assert skills.candidate is not None
    root = skills.candidate.root.resolve()
    graders = [spec.source for one in tests for spec in one.grader_files if spec.source]
    inside = [path for path in (file.resolve(), *map(Path, graders)) if path.resolve().is_relative_to(root)]
    also = dict.fromkeys(path.resolve().relative_to(root).as_posix() for path in inside)
    return skill_ref(root, skills.candidate.name, leaks_of(root, also=also).paths)
