"""From paths to suites."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Comparison,
    LimitOutcome,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Severity,
    SkillRef,
    SourceSpan,
    Suite,
    SuiteDefaults,
    SuiteError,
    digest,
    read_document,
)
from skillgauge_skill_folders import SKILL_FILE, Leaks, Skill, find_skill, leaks_of, read_skill, skill_ref
from skillgauge_skillevaluation import EvalCase, read_cases, replies

from .cases import CaseMaker
from .claiming import NAMES, OTHERS_FOLDER
from .options import SkillevaluationOptions

FORMAT = "skillevaluation"
WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
SPEC_VERSION = "0.8.0"
SUITE_HASH_CHARACTERS = 12
_ENGINE = "api"
MOCK = "mock"
"""The engine that plays what the format says of a made-up session."""


@dataclass
class _Loading:
    """The state of one load request; problems are collected until everything was read."""

    options: SkillevaluationOptions
    engine: str | None
    """The one that suites name."""
    suites: list[Suite] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def add(self, path: Path, problems: list[Problem]) -> None:
        file = next((path / name for name in NAMES if (path / name).is_file()), path / NAMES[0])
        file = file if path.is_dir() else path
        if file.resolve() in self.seen:
            return
        self.seen.add(file.resolve())
        try:
            self.suites.append(_suite(file, self.options, self.engine))
        except SuiteError as error:
            problems += error.problems


def load(request: LoadRequest, options: SkillevaluationOptions) -> Loaded:
    """Load every suite that a request comes to.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    loading, fatal, passed_over = _Loading(options, _default_engine(request)), list[Problem](), list[Problem]()
    for text in request.paths:
        loading.add(Path(text), fatal)
    for text in request.searched:
        loading.add(Path(text), passed_over)
    if fatal:
        raise SuiteError([*fatal, *passed_over])
    return Loaded(tuple(loading.suites), tuple(passed_over))


def _suite(file: Path, options: SkillevaluationOptions, engine: str | None) -> Suite:
    problems: list[Problem] = []
    skill = _skill(file, problems)
    document = None
    cases: tuple[EvalCase, ...] = ()
    try:
        document = read_document(file)
        cases, faults = read_cases(document.value, document.origin)
        top = SourceSpan(str(file), 1, 1)  # an empty document has no place for what is missing in it
        problems += [one if one.origin is None or one.origin.pointer else one.at(top) for one in faults]
    except SuiteError as error:
        problems += error.problems
    if problems or skill is None or document is None:
        raise SuiteError(problems)
    maker = CaseMaker(skill.root, document, options.judge_last)
    leaks = leaks_of(
        skill.root,
        commands=[validator.cmd for case in cases for validator in case.validators],
        also=[file.relative_to(skill.root).as_posix()],
        keep=options.keep,
    )
    ref = skill_ref(skill.root, skill.name, leaks.paths)
    content = {"cases": [case.document() for case in cases]}
    target = skill.target()
    return Suite(
        id=f"{skill.name}-eval" if (skill.root / OTHERS_FOLDER).is_dir() else skill.name,
        name=skill.name,
        version=skill.version,
        description=skill.description,
        format=FORMAT,
        dialect="rev 2",
        root=str(skill.root),
        digest=digest(document.value, ref.digest),
        cases=tuple(maker.case(case) for case in cases),
        targets=(target,),
        arms=(_arm(WITH_SKILL, ref), _arm(WITHOUT_SKILL)),
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
        document=FORMAT,
        defaults=SuiteDefaults(
            engine=engine,
            cache_baseline=True,
            engine_options=((MOCK, {"otherwise": replies(skill.name)}),),
        ),
        on_agent_limit=LimitOutcome.ERROR,
        parameters={"suite_hash": suite_hash(content), "spec_version": SPEC_VERSION},
        warnings=(*skill.warnings, *_warnings(maker, cases, leaks, skill)),
        origin=Origin(str(file)),
    )


def _default_engine(request: LoadRequest) -> str | None:
    """Return the engine that asks the model's own API, which is the reference's default; there is none without it."""
    return _ENGINE if _ENGINE in request.installed.get("engines", ()) else None


def suite_hash(content: object) -> str:
    """Return the digest that names a suite in a reference to it, however the suite is written down."""
    return digest(content)[:SUITE_HASH_CHARACTERS]


def _skill(file: Path, problems: list[Problem]) -> Skill | None:
    root = find_skill(file)
    if root is None:
        message = f"there is no {SKILL_FILE} beside {file.name!r}"
        hint = f"Put {file.name} into the folder of the skill that it is about."
        problems.append(Problem("suite.no-skill", message, span=SourceSpan(str(file), 1, 1), hint=hint))
        return None
    try:
        skill = read_skill(root)
    except SuiteError as error:
        problems += error.problems
        return None
    if not skill.body.strip():
        message = f"{SKILL_FILE} says nothing beside its front matter"
        problems.append(
            Problem("suite.empty-skill", message, origin=skill.origin(), hint="Write instructions into it.")
        )
        return None
    return skill


def _arm(name: str, *skills: SkillRef) -> Arm:
    return Arm(name=name, kind=ArmKind.AGENT, skills=skills)


def _warnings(maker: CaseMaker, cases: tuple[EvalCase, ...], leaks: Leaks, skill: Skill) -> Iterator[Problem]:
    """Warn of settings that a reader of the results might not expect."""
    for case in cases:
        yield from maker.warnings(case)
    if leaks.of_validators:
        message = f"not installed for the agent, because validators grade with it: {', '.join(leaks.of_validators)}"
        hint = f"To install some of it all the same: --set formats.{FORMAT}.keep=[GLOB]"
        yield Problem("suite.left-out", message, origin=skill.origin(), hint=hint, severity=Severity.WARNING)
    skipped = [case.name for case in cases if case.is_trigger_only]
    if skipped:
        message = f"not run, because they only say whether the skill should fire: {', '.join(skipped)}"
        yield Problem("suite.trigger-only", message, origin=maker.document.origin(), severity=Severity.WARNING)
