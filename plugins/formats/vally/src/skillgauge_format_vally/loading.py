"""From an eval file to suites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Comparison,
    Install,
    JsonValue,
    Limits,
    Loaded,
    LoadRequest,
    Problem,
    SkillRef,
    SkillRole,
    Suite,
    SuiteDefaults,
    Target,
    TargetKind,
    digest,
    read_document,
)
from skillgauge_skill_folders import SKILL_FILE, Skill, leaks_of, load_each, skill_ref

from .cases import Shared, Stimulus, asks_for_skill_alone, further_keys, runnable_or_left_out, stimuli_of
from .checks.graders import KNOWN_TYPES
from .claiming import FORMAT, NAMES
from .options import VallyOptions
from .skills import Skills, skills_of_suite
from .source.files import DefaultsFile, EnvironmentFile, EvalFile, ScoringFile
from .source.reading import Reading
from .source.repository import repository_of
from .source.settings import settings_of
from .tags import tags_of

AGENT = "agent"
WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
WITH_SKILLS, WITHOUT_SKILLS = "with_skills", "without_skills"
COMMAND = "command"
TIMEOUT_S = 120.0
"""The limit of a session where a file sets none."""


def load(request: LoadRequest, options: VallyOptions) -> Loaded:
    """Return the suites of each file.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    further: list[Suite] = []
    left_out: list[Problem] = []

    def first(file: Path) -> Suite:
        (suite, *others), problems = _suites(file, _named_skill(request, options))
        further.extend(others)
        left_out.extend(problems)
        return suite

    loaded = load_each(request, NAMES, first)
    return Loaded((*loaded.suites, *further), (*loaded.problems, *left_out))


def _named_skill(request: LoadRequest, options: VallyOptions) -> Path | None:
    """Return the folder that the user names."""
    if options.skill_path is None:
        return None
    place = Path(request.cwd, options.skill_path)
    return place.parent if place.name == SKILL_FILE else place


def _suites(file: Path, named: Path | None) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
    """Return the suites of a file, and what keeps some of its cases from being run.

    There is one for each set of skills and servers, and one of what asks for the skill alone.
    """
    document = read_document(file, kind="yaml")
    repository = repository_of(file)
    reading = Reading(document, repository.root)
    read = reading.part(EvalFile, document.value)
    if read is None:
        raise reading.error
    settings = settings_of(reading, repository.settings)
    groups = _alike(stimuli_of(reading, settings, read))
    defaults = _defaults(reading, read)
    scoring = _scoring(reading, read)
    makings: list[tuple[_Making, tuple[Case, ...]]] = []
    faults: dict[str, tuple[Problem, ...]] = {}
    for group in groups:
        skills = skills_of_suite(reading, settings, group[0].environment.skills, named)
        if skills is None:
            continue
        shared = Shared(reading, skills, scoring, tags_of(read.tags))
        installs = group[0].environment.installs(skills.names[0] if skills.names else file.parent.name)
        makings.append((_Making(reading, read, skills, installs, defaults), _cases(group, shared, faults)))
    if all(case.skip for _, cases in makings for case in cases):
        reading.problems += [problem for problems in faults.values() for problem in problems]
    if reading.problems:
        raise reading.error
    suites = [one for number, (making, cases) in enumerate(makings, 1) for one in making.suites(file, cases, number)]
    told = (*suites[0].warnings, *reading.notices.warnings())
    left_out = (_left_out(name, problem) for name, problems in faults.items() for problem in problems)
    return (suites[0].model_copy(update={"warnings": told}), *suites[1:]), tuple(left_out)


def _cases(group: Iterable[Stimulus], shared: Shared, faults: dict[str, tuple[Problem, ...]]) -> tuple[Case, ...]:
    """Return the cases of stimuli in the order of the file, and note by their names what keeps them from being run."""
    cases = []
    for stimulus in sorted(group, key=lambda one: one.place[1]):
        case, faults[stimulus.file.name] = runnable_or_left_out(stimulus, shared)
        cases.append(case)
    return tuple(cases)


def _left_out(name: str, problem: Problem) -> Problem:
    return replace(problem, message=f"case {name!r} is left out: {problem.message}")


def _alike(stimuli: Iterable[Stimulus]) -> list[list[Stimulus]]:
    """Return the stimuli by their skills and servers, of which an arm has the same for all."""
    groups: list[list[Stimulus]] = []
    for stimulus in sorted(stimuli, key=lambda one: bool(one.faults)):  # what cannot be run has the arms of others
        mine = next((group for group in groups if _equipment(group[0]) == _equipment(stimulus)), None)
        if mine is None and stimulus.faults and groups:
            mine = groups[0]
        if mine is None:
            groups.append([stimulus])
        else:
            mine.append(stimulus)
    return groups


def _equipment(stimulus: Stimulus) -> tuple[object, object]:
    return stimulus.environment.skills, stimulus.environment.servers


def _defaults(reading: Reading, read: EvalFile) -> SuiteDefaults:
    """Return the settings for the whole file."""
    if read.config is not None and read.defaults is not None:
        hint = "Put all of it into `defaults`."
        reading.refuse("config and defaults are the same, and Vally takes one of them", "config", hint=hint)
    key = "config" if read.defaults is None else "defaults"
    file = reading.part(DefaultsFile, getattr(read, key) or {}, key)
    if file is None:
        return SuiteDefaults()
    if file.executor is not None:
        reading.tell("executor has no effect: --engine names the agent that runs", key, "executor")
    if file.model is not None:
        reading.tell("names of models are Copilot's; --model names one of the engine", key, "model")
    if file.runs == 0:
        reading.tell("runs: 0 looks at the file alone, as skillgauge validate does; a run takes it for 1", key, "runs")
    timeout_s = TIMEOUT_S if file.timeout is None else reading.seconds(file.timeout, key, "timeout")
    return SuiteDefaults(
        model=file.model,
        judge_model=file.judge_model,
        limits=Limits(timeout_s=timeout_s),
        runs=file.runs or 1,
        baseline=False,
    )


def _scoring(reading: Reading, read: EvalFile) -> ScoringFile:
    """Return the way in which the scores of graders become one."""
    file = reading.part(ScoringFile, read.scoring or {}, "scoring") or ScoringFile()
    types = {grader.get("type") for stimulus in read.stimuli for grader in _graders(stimulus)}
    for kind in file.weights:
        if kind not in KNOWN_TYPES and kind not in types:
            hint = "Write the type of a grader."
            reading.refuse(f"there is no grader of type {kind!r}", "scoring", "weights", kind, hint=hint)
        elif kind not in types:
            reading.tell("a weight of a type without a grader has no effect", "scoring", "weights", kind)
    if file.weights and file.threshold is None:
        reading.tell("weights decide nothing without a threshold: every grader has to pass", "scoring", "weights")
    return file


def _graders(stimulus: Mapping[str, JsonValue]) -> tuple[Mapping[str, JsonValue], ...]:
    graders = stimulus.get("graders")
    return tuple(grader for grader in graders if isinstance(grader, Mapping)) if isinstance(graders, tuple) else ()


@dataclass(frozen=True)
class _Making:
    """A file that was read without a problem, on its way to suites."""

    reading: Reading
    read: EvalFile
    skills: Skills
    installs: tuple[Install, ...]
    defaults: SuiteDefaults

    def suites(self, file: Path, cases: tuple[Case, ...], number: int) -> list[Suite]:
        """Return the suites of the cases, which share their arms as far as these prove something.

        Args:
            file: the file that is read.
            cases: those with the same skills and servers.
            number: how many such sets of cases the file has up to this one, for a name that no other has.
        """
        tested = self.skills.tested
        alone = [case for case in cases if asks_for_skill_alone(case, self.skills.tested_names)]
        graded = [case for case in cases if case not in alone]
        name = self._name(file, number)
        others = tuple(
            skill_ref(skill.root, skill.name, leaks_of(skill.root).paths, role=SkillRole.DISTRACTOR)
            for skill in self.skills.others
        )
        if not tested:
            return [self._suite(name, graded, (self._arm(AGENT, others),))]
        names = (WITH_SKILL, WITHOUT_SKILL) if len(tested) == 1 else (WITH_SKILLS, WITHOUT_SKILLS)
        with_skill = self._arm(names[0], (*(_tested_ref(skill, file, cases) for skill in tested), *others))
        pair = Comparison(candidate=names[0], baseline=names[1])
        suites = []
        if graded:
            arms = (with_skill, self._arm(names[1], others))
            suites.append(self._suite(name, graded, arms).model_copy(update={"comparisons": (pair,)}))
        if alone:
            suites.append(self._suite(f"{name}-triggers" if graded else name, alone, (with_skill,)))
        warnings = tuple(warning for skill in tested for warning in skill.warnings)
        return [suites[0].model_copy(update={"warnings": warnings}), *suites[1:]]

    def _name(self, file: Path, number: int) -> str:
        tested = self.skills.tested
        name = self.read.name or (tested[0].name if len(tested) == 1 else file.absolute().parent.name)
        return name if number == 1 else f"{name}-{number}"

    def _arm(self, name: str, skills: tuple[SkillRef, ...]) -> Arm:
        return Arm(name=name, kind=ArmKind.AGENT, skills=skills, installs=self.installs)

    def _suite(self, name: str, cases: list[Case], arms: tuple[Arm, ...]) -> Suite:
        document, version = self.reading.document, self.read.version
        target = self._target(name)
        return Suite(
            id=name,
            name=name,
            version=target.version if version is None else str(version),
            description=self.read.description,
            format=FORMAT,
            root=str(Path(document.file).parent.absolute()),
            digest=digest(document.value, [case.execution_digest for case in cases], [arm.digest for arm in arms]),
            cases=tuple(cases),
            targets=(target,),
            arms=arms,
            defaults=self.defaults,
            extras=_kept(document.value),
            origin=document.origin(),
        )

    def _target(self, name: str) -> Target:
        """Return the skill under test, several of them together, or the agent where there is none."""
        tested = self.skills.tested
        if len(tested) == 1:
            return tested[0].target()
        kind = TargetKind.SKILL if tested else TargetKind.AGENT
        return Target(id=name, name=name, kind=kind, origin=self.reading.document.origin())


def _tested_ref(skill: Skill, file: Path, cases: tuple[Case, ...]) -> SkillRef:
    """Return the skill without its suite, and without what only the suite needs of its folder."""
    root = skill.root.resolve()
    commands = [str(check.options["command"]) for case in cases for check in case.checks if check.scorer == COMMAND]
    graders = [spec.source for case in cases for spec in case.grader_files]
    inputs = [spec.source for case in cases for spec in case.files]
    own_files = _below(root, [str(file), *graders])
    unmentioned = [path for path in _below(root, inputs) if path not in skill.body]
    leaks = leaks_of(root, commands=commands, also=dict.fromkeys((*own_files, *unmentioned)))
    return skill_ref(root, skill.name, leaks.paths)


def _below(root: Path, sources: list[str | None]) -> list[str]:
    """Return the paths of files below a folder."""
    paths = [Path(source).resolve() for source in sources if source is not None]
    return [path.relative_to(root).as_posix() for path in paths if path.is_relative_to(root)]


def _kept(value: JsonValue) -> dict[str, JsonValue]:
    """Return the parts of a file that nothing executes, for writing back."""
    if not isinstance(value, Mapping):
        return {}
    kept = further_keys(value, EvalFile)
    kept |= {key: value[key] for key in ("type", "tags") if key in value}
    defaults = value.get("defaults", value.get("config"))
    inner = further_keys(defaults, DefaultsFile)
    if isinstance(defaults, Mapping) and "executor" in defaults:
        inner["executor"] = defaults["executor"]
    for key, more in (
        ("defaults", inner),
        ("scoring", further_keys(value.get("scoring"), ScoringFile)),
        ("environment", further_keys(value.get("environment"), EnvironmentFile)),
    ):
        if more:
            kept[key] = more
    return kept
