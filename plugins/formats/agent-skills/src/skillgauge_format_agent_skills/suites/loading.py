"""From paths to suites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Comparison,
    JsonObject,
    JsonValue,
    LimitOutcome,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    SkillRef,
    Suite,
    SuiteDefaults,
    SuiteError,
    did_you_mean,
    digest,
)
from skillgauge_skill_folders import (
    DOCKERFILE,
    Skill,
    find_skill,
    image_files,
    leaks_of,
    read_skill,
    skill_ref,
)

from ..checks.rules import COMMAND
from ..checks.scenarios import SCENARIOS
from ..figures import BALANCED
from ..findings import Findings
from ..keys import FILE_KEYS, Use
from ..options import FORMAT, AgentSkillsOptions
from ..recognition.case_folders import foreign_file
from ..recognition.drafts import NAME, bare_skills, draft_notices, has_drafts, loaded_with, only_drafts, unaccepted
from ..recognition.packages import manifest_of
from ..recognition.shapes import TRIGGERS, Foreign, Shape, evals_in, list_key
from ..recognition.skill_search import PATH_KEY, SkillSearch
from ..recognition.sources import EVALS_FOLDER, Source, is_named_evals, parts_of, read_source, shape_in, suite_files
from ..recognition.unread import missing_plugin, not_read, unknown_shape
from .cases import SERVERS_KEY, TRIGGER, CaseMaker
from .installing import leak_warnings
from .naming import prefixes
from .neighbours import Neighbours
from .triggers import SHOULD, SHOULD_NOT, trigger_cases

SKILL_CREATOR, AGENTSKILLS = "skill-creator", "agentskills"
"""Dialects of evals: with `expectations` and with `assertions`."""
WITH_SKILL, WITHOUT_SKILL = "with_skill", "without_skill"
TRIGGER_RUNS = 3
_EVALS_KEYS = ("skill_name", PATH_KEY, SERVERS_KEY, "evals")


@dataclass(frozen=True)
class _Part:
    """The cases of one file, before it is a suite."""

    source: Source
    cases: tuple[Case, ...]
    warnings: tuple[Problem, ...]

    @property
    def is_triggers(self) -> bool:
        return self.source.shape is Shape.TRIGGERS


@dataclass
class _OfSkill:
    """A skill and what is asked about it."""

    skill: Skill
    parts: list[_Part] = field(default_factory=list)


@dataclass
class _Loading:
    """The state of one load request; problems are collected until everything was read."""

    options: AgentSkillsOptions
    cwd: Path
    search: SkillSearch = field(default_factory=SkillSearch)
    skills: dict[Path, _OfSkill | None] = field(default_factory=dict)
    """By their folder; `None` for one that cannot be read."""
    seen: set[Path] = field(default_factory=set)
    whole: set[Path] = field(default_factory=set)
    """Folders of skills all of whose suites were asked for, not one file alone."""
    drafts: list[Problem] = field(default_factory=list)
    fatal: list[Problem] = field(default_factory=list)
    passed_over: list[Problem] = field(default_factory=list)

    def add(self, path: Path, *, searched: bool) -> None:
        """Read what a path stands for."""
        problems = self.passed_over if searched else self.fatal
        files = list(suite_files(path)) if path.is_dir() else [path]
        if path.is_dir() or searched:
            self.whole.add(find_skill(path) or path)
        count = sum(self._add_file(file, problems, in_folder=path.is_dir()) for file in files if file.name != NAME)
        drafted = path if path.is_dir() else path.parent.parent
        if not count and has_drafts(drafted):
            (self.drafts if searched else problems).extend(only_drafts(drafted, searched=searched))
        elif path.is_dir() and not count:
            hint = f"Write {EVALS_FOLDER}/evals.json with a list 'evals', each with 'id', 'prompt' and 'assertions'."
            problems.append(Problem("suite.no-evals", "this skill has no evals", Origin(str(path)), hint=hint))

    def _add_file(self, path: Path, problems: list[Problem], *, in_folder: bool) -> bool:
        """Take one file, once; tells whether it is a suite, good or bad."""
        path = manifest_of(path) or path
        if path.resolve() in self.seen:
            return True
        if foreign := foreign_file(path):
            self.seen.add(path.resolve())
            problems.append(missing_plugin(foreign, Origin(str(path))))
            return True
        try:
            source = read_source(path)
        except SuiteError as error:
            if in_folder and path.parent.name != EVALS_FOLDER:
                return False  # something else that is none of ours
            problems += error.problems
            return True
        if source is None:
            if not in_folder or is_named_evals(path):
                self.seen.add(path.resolve())
                problems.append(unknown_shape(path))
                return True
            return False
        self.seen.add(path.resolve())
        if isinstance(source.shape, Foreign):
            problems.append(missing_plugin(source.shape, source.origin()))
            return True
        of_skill = self._skill_of(source, problems)
        if of_skill:
            try:
                of_skill.parts += [_part(one, of_skill.skill, self.options) for one in parts_of(source)]
            except SuiteError as error:
                problems += [source.placed(one) for one in error.problems]
        return True

    def _skill_of(self, source: Source, problems: list[Problem]) -> _OfSkill | None:
        named = self.options.skill_path
        root = (self.cwd / named).absolute() if named is not None else self.search.skill_of(source)
        if isinstance(root, Problem):
            problems.append(source.placed(root))
            return None
        if root not in self.skills:
            try:
                self.skills[root] = _OfSkill(read_skill(root))
            except SuiteError as error:
                self.skills[root] = None
                problems += error.problems
        return self.skills[root]

    def add_queries_of(self, neighbours: Neighbours) -> None:
        """Read the trigger sets of the skills beside, if any query is asked: who fires for theirs is half of it."""
        tested = [of_skill for of_skill in self.skills.values() if of_skill]
        if any(_is_trigger(case) for of_skill in tested for part in of_skill.parts for case in part.cases):
            for file in (one for root in neighbours.roots for one in suite_files(root)):
                if file.resolve() not in self.seen and shape_in(file) is Shape.TRIGGERS:
                    self._add_file(file, self.passed_over, in_folder=True)

    def suites(self, neighbours: Neighbours) -> tuple[Suite, ...]:
        """The suites of all skills, told apart by plugin; of others a second skill of a name is passed over."""
        tested = [one.skill for one in self.skills.values() if one and one.skill.root.resolve() not in neighbours.roots]
        apart = prefixes([one.skill for one in self.skills.values() if one and one.parts])
        suites: list[Suite] = []
        first: dict[str, Path] = {}
        for of_skill in self.skills.values():
            if of_skill is None or not of_skill.parts:
                continue
            skill = of_skill.skill
            name = f"{apart[skill.root]}{skill.name}"
            if name in first:
                message = f"a skill {name!r} was found before, in {str(first[name])!r}; this one is left out"
                self.passed_over.append(
                    Problem("suite.duplicate-id", message, skill.origin("name"), hint="Evaluate it in a separate run.")
                )
                continue
            first[name] = skill.root
            cases = [case for part in of_skill.parts for case in part.cases]
            is_whole = skill.root in self.whole
            unread = (*draft_notices(skill.root), *not_read(skill.root, cases, self.seen)) if is_whole else ()
            try:
                suites += _suites(of_skill, self.options.keep, neighbours.of(skill, tested), unread, apart[skill.root])
            except SuiteError as error:
                self.fatal += error.problems
        return tuple(suites)


def load(request: LoadRequest, options: AgentSkillsOptions) -> Loaded:
    """Load every suite that a request comes to."""
    loading = _Loading(options, Path(request.cwd))
    for text in request.paths:
        loading.add(Path(text), searched=False)
    for text in request.searched:
        loading.add(Path(text), searched=True)
    neighbours = Neighbours(options.with_skills, loading.cwd, options.keep)
    loading.fatal += neighbours.problems
    loading.add_queries_of(neighbours)
    suites = loading.suites(neighbours)
    if loading.fatal:
        raise SuiteError([*loading.fatal, *loading.passed_over])
    return loaded_with([*loading.drafts, *bare_skills(request.searched)], suites, loading.passed_over)


def _part(source: Source, skill: Skill, options: AgentSkillsOptions) -> _Part:
    """The cases of a file. Raises `SuiteError` with everything that is wrong with them."""
    findings = Findings()
    if source.shape is Shape.TRIGGERS:
        cases = trigger_cases(source, skill.name, findings)
    else:
        cases = _evals(source, skill, findings)
    if findings.errors:
        raise SuiteError(findings.errors)
    if options.image == "use" and (image := image_files(skill.root / EVALS_FOLDER)):
        message = f"{EVALS_FOLDER}/{DOCKERFILE} is the image of these cases, which sandbox 'docker' runs; others refuse"
        hint = "Take --sandbox docker, or do without the image: --set formats.agent-skills.image=ignore."
        findings.warning("image", message, source.origin(), hint)
        cases = tuple(case.model_copy(update={"image_files": image}) for case in cases)
    return _Part(source, cases, tuple(map(source.placed, findings.warnings)))


def _evals(source: Source, skill: Skill, findings: Findings) -> tuple[Case, ...]:
    maker = CaseMaker(skill.root, skill.name, source.path.parent, findings, baseline=WITHOUT_SKILL)
    value = source.value
    if not isinstance(value, Mapping):
        items = value if isinstance(value, tuple) else ()
        return maker.cases(items, source.origin)
    if source.shape is Shape.ONE:
        return maker.cases((value,), lambda *pointer: source.origin(*pointer[1:]))
    listed = list_key(value)
    if listed != "evals":
        findings.other_name(listed, "evals", source.origin(listed))
    _note_keys(value, listed, findings, source)
    maker = replace(maker, threshold=_threshold(value, findings, source), of_scenarios=listed == SCENARIOS)
    maker = maker.with_servers(value.get(SERVERS_KEY), source.origin)
    name = value.get("skill_name")
    if isinstance(name, str) and name != skill.name:
        message = f"skill_name is {name!r}, but the skill is called {skill.name!r}{did_you_mean(name, [skill.name])}"
        findings.warning("skill-name", message, source.origin("skill_name"))
    elif name is not None and not isinstance(name, str):
        findings.error("wrong-type", "'skill_name' must be text", source.origin("skill_name"))
    if not isinstance(value.get(PATH_KEY, ""), str):
        findings.error("wrong-type", f"{PATH_KEY!r} must be text", source.origin(PATH_KEY))
    evals = value.get(listed)
    items = evals if isinstance(evals, tuple) else ()
    findings.add(unaccepted(items, source.origin(listed)))
    return maker.cases(items, partial(source.origin, listed))


def _note_keys(value: Mapping[str, JsonValue], listed: str, findings: Findings, source: Source) -> None:
    """Note the keys beside the list of evals: those that hold evals, are misspelt, or have no effect."""
    for key in value:
        if key == listed or findings.are_unread(evals_in(value[key]), source.origin(key)):
            continue
        if key not in _EVALS_KEYS and not findings.is_misspelt(key, _EVALS_KEYS, source.origin(key)):
            findings.kept(key, FILE_KEYS.get(key, Use.NONE), source.origin(key))


def _threshold(value: Mapping[str, JsonValue], findings: Findings, source: Source) -> float | None:
    """Return the threshold that all evals of a file share, if it sets one."""
    key = next((one for one, use in FILE_KEYS.items() if use is Use.RULE and value.get(one) is not None), "")
    threshold = value.get(key)
    if not key or (isinstance(threshold, int | float) and not isinstance(threshold, bool) and 0 <= threshold <= 1):
        return float(threshold) if isinstance(threshold, int | float) else None
    findings.error("value", f"{key!r} must be a number from 0 to 1", source.origin(key))
    return None


def _suites(
    of_skill: _OfSkill,
    keep: tuple[str, ...],
    beside: tuple[SkillRef, ...],
    unread: tuple[Problem, ...],
    prefix: str,
) -> Iterable[Suite]:
    """Return the suites about one skill: all install the same of it, so that their sessions are of the same skill."""
    skill = of_skill.skill
    commands = [
        str(check.options["command"])
        for part in of_skill.parts
        for case in part.cases
        for check in case.checks
        if check.scorer == COMMAND
    ]
    also = [
        part.source.path.relative_to(skill.root).as_posix()
        for part in of_skill.parts
        if part.source.path.is_relative_to(skill.root)
    ]
    outside = [path for path in also if not path.startswith(f"{EVALS_FOLDER}/")]
    leaks = leaks_of(skill.root, commands=commands, also=outside, keep=keep)
    ref = skill_ref(skill.root, skill.name, leaks.paths)
    warnings = (*skill.warnings, *leak_warnings(leaks, skill), *unread)
    names: set[str] = set()
    for part in sorted(of_skill.parts, key=lambda part: part.is_triggers):
        for suite in _split(part, skill, ref, names):
            suite = suite.model_copy(update={"id": f"{prefix}{suite.id}"})
            if beside:
                arms = (arm.model_copy(update={"skills": (*arm.skills, *beside)}) for arm in suite.arms)
                suite = suite.model_copy(update={"arms": tuple(arms)})
            yield suite.model_copy(update={"warnings": (*warnings, *suite.warnings)}) if warnings else suite
            warnings = ()


def _split(part: _Part, skill: Skill, ref: SkillRef, names: set[str]) -> Iterable[Suite]:
    """The suites of a file.

    Evals that ask only whether the skill fires are a suite of their own, since they prove nothing in an arm without it.
    """
    triggers = [case for case in part.cases if _is_trigger(case)]
    evals = [case for case in part.cases if not _is_trigger(case)]
    warnings = part.warnings
    if evals:
        name = _free(skill.name if skill.name not in names else f"{skill.name}-{part.source.path.stem}", names)
        yield _suite(name, part, evals, skill, ref).model_copy(
            update={
                "warnings": warnings,
                "dialect": SKILL_CREATOR if _has_expectations(part.source) else AGENTSKILLS,
                "arms": (_arm(WITH_SKILL, ref), _arm(WITHOUT_SKILL)),
                "comparisons": (Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),),
                "document": FORMAT,
            }
        )
        warnings = ()
    if triggers:
        name = _free(f"{skill.name}-{part.source.path.stem if part.is_triggers else TRIGGERS}", names)
        yield _suite(name, part, [_tagged(case) for case in triggers], skill, ref).model_copy(
            update={
                "warnings": warnings,
                "dialect": TRIGGERS,
                "arms": (_arm(WITH_SKILL, ref),),
                "defaults": SuiteDefaults(runs=TRIGGER_RUNS),
                "completion": BALANCED,
                "on_agent_limit": LimitOutcome.ERROR,
            }
        )


def _suite(name: str, part: _Part, cases: list[Case], skill: Skill, ref: SkillRef) -> Suite:
    target = skill.target()
    integers = tuple(case.id for case in cases if case.extras.get("integer_id"))
    return Suite(
        id=name,
        name=skill.name,
        version=skill.version,
        description=skill.description,
        format=FORMAT,
        root=str(skill.root),
        digest=digest(part.source.value, ref.digest),
        cases=tuple(cases),
        targets=(target,),
        parameters={"integer_ids": integers, "eval_names": {case.id: case.name for case in cases if case.name}},
        extras=_unknown(part.source),
        origin=part.source.origin(),
    )


def _free(name: str, names: set[str]) -> str:
    free = next(one for one in (name, *(f"{name}-{number}" for number in range(2, 1000))) if one not in names)
    names.add(free)
    return free


def _arm(name: str, *skills: SkillRef) -> Arm:
    return Arm(name=name, kind=ArmKind.AGENT, skills=skills)


def _is_trigger(case: Case) -> bool:
    return bool(case.checks) and all(check.scorer == TRIGGER for check in case.checks)


def _tagged(case: Case) -> Case:
    should = all(check.options.get("should_trigger") for check in case.checks)
    tag = SHOULD if should else SHOULD_NOT
    return case if tag in case.tags else case.model_copy(update={"tags": (*case.tags, tag)})


def _has_expectations(source: Source) -> bool:
    value = source.value.get(list_key(source.value)) if isinstance(source.value, Mapping) else source.value
    return isinstance(value, tuple) and any("expectations" in item for item in value if isinstance(item, Mapping))


def _unknown(source: Source) -> JsonObject:
    """Keys of the file that have no effect, to be written again."""
    if not isinstance(source.value, Mapping) or source.shape not in (Shape.EVALS, Shape.CASES):
        return {}
    own = (*_EVALS_KEYS, list_key(source.value))
    return {"keys": {key: value for key, value in source.value.items() if key not in own}}
