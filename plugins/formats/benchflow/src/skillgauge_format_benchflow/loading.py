"""From paths to suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillgauge.api import (
    Arm,
    ArmKind,
    Comparison,
    Document,
    FileSpec,
    LimitOutcome,
    Limits,
    Loaded,
    LoadRequest,
    Origin,
    Problem,
    Severity,
    Suite,
    SuiteDefaults,
    SuiteError,
    did_you_mean,
    digest,
    read_document,
)
from skillgauge_skill_folders import DOCKERFILE, Skill, find_skill, image_files, leaks_of, read_skill, skill_ref
from skillgauge_validation import validate

from .cases import CaseMaker, is_safe_name
from .claiming import EVALS_FILE, EVALS_FOLDER, MAX_BYTES
from .files import MOUNT_DIR, EvalsFile
from .options import BenchflowOptions
from .views import BASELINE, FORMAT, WITH_SKILL

REQUIREMENTS = "requirements.txt"


@dataclass
class _Loading:
    """The state of one load request; problems are collected until everything was read."""

    options: BenchflowOptions
    suites: dict[Path, Suite] = field(default_factory=dict)
    seen: set[Path] = field(default_factory=set)
    fatal: list[Problem] = field(default_factory=list)
    passed_over: list[Problem] = field(default_factory=list)

    def add(self, path: Path, *, searched: bool) -> None:
        """Read what a path stands for, once."""
        file = path / EVALS_FOLDER / EVALS_FILE if path.is_dir() else path
        if file.resolve() in self.seen:
            return
        self.seen.add(file.resolve())
        try:
            suite = load_file(file, self.options)
        except SuiteError as error:
            (self.passed_over if searched else self.fatal).extend(error.problems)
            return
        root = Path(suite.root)
        if any(one.id == suite.id for one in self.suites.values()):
            message = f"a skill {suite.id!r} was found before; this one is left out"
            hint = "Evaluate it in a separate run."
            self.passed_over.append(Problem("suite.duplicate-id", message, suite.origin, hint=hint))
        else:
            self.suites[root] = suite


def load(request: LoadRequest, options: BenchflowOptions) -> Loaded:
    """Load every suite that a request comes to.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    if options.export_gepa:
        hint = "Take --format gepa; it needs skillgauge-reporter-gepa."
        raise SuiteError(Problem("usage.old-spelling", "--export-gepa is now --format gepa", hint=hint))
    loading = _Loading(options)
    for text in request.paths:
        loading.add(Path(text), searched=False)
    for text in request.searched:
        loading.add(Path(text), searched=True)
    if loading.fatal:
        raise SuiteError([*loading.fatal, *loading.passed_over])
    return Loaded(tuple(loading.suites.values()), tuple(loading.passed_over))


def load_file(path: Path, options: BenchflowOptions) -> Suite:
    """The suite of one file.

    Raises:
        SuiteError: with everything that is wrong with it.
    """
    document = read_document(path, kind="json", max_bytes=MAX_BYTES)
    problems: list[Problem] = []
    try:
        file = validate(EvalsFile, document.value, document)
    except SuiteError as error:
        file, problems = None, [*error.problems]
    root = find_skill(path)
    if root is None:
        message = f"there is no SKILL.md beside {path.name!r}, nor in a folder around its own"
        hint = "An agent finds a skill by its SKILL.md; without one both arms would be the same."
        problems.append(Problem("suite.no-skill", message, origin=document.origin(), hint=hint))
    if file is None or root is None:
        raise SuiteError(problems)
    return _suite(document, file, read_skill(root), options)


def _suite(document: Document, file: EvalsFile, skill: Skill, options: BenchflowOptions) -> Suite:
    maker = CaseMaker(document, skill, options)
    cases = maker.cases(file.cases)
    evals = Path(document.file).parent
    image = image_files(evals) if options.image == "use" else ()
    problems = [*maker.problems, *_unsupported(document, file, evals, options, has_image=bool(image))]
    if problems:
        raise SuiteError(problems)
    leaks = leaks_of(skill.root)
    ref = skill_ref(skill.root, skill.name, leaks.paths)
    target = skill.target()
    judged = any(case.expected_behavior for case in file.cases)
    return Suite(
        id=skill.name,
        name=file.skill_name or skill.name,
        version=skill.version,
        description=skill.description,
        format=FORMAT,
        root=str(skill.root),
        digest=digest(document.value, ref.digest),
        cases=tuple(case.model_copy(update={"image_files": image}) for case in cases) if image else cases,
        targets=(target,),
        arms=(Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=(ref,)), Arm(name=BASELINE, kind=ArmKind.AGENT)),
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=BASELINE),),
        defaults=SuiteDefaults(
            limits=Limits(timeout_s=float(file.defaults.timeout_sec)),
            judge_model=file.defaults.judge_model if judged else None,
        ),
        document=FORMAT,
        on_agent_limit=LimitOutcome.FAIL,
        extras={"version": file.version, "defaults": file.defaults.model_dump(mode="json", exclude_unset=True)},
        warnings=(*skill.warnings, *_told(document, file, skill, image)),
        origin=document.origin(),
    )


def _unsupported(
    document: Document, file: EvalsFile, evals: Path, options: BenchflowOptions, *, has_image: bool
) -> list[Problem]:
    """Report settings that would have another meaning here than their author expects."""
    problems = []
    mount = file.defaults.skill_mount_dir
    if any(part in ("", ".", "..") for part in mount.split("/")[1:]):
        message = f"skill_mount_dir {mount!r} must be an absolute path without '.', '..' or empty parts"
        problems.append(Problem("suite.value", message, origin=document.origin("defaults", "skill_mount_dir")))
    elif mount != MOUNT_DIR:
        message = f"skill_mount_dir {mount!r} is not supported: a skill is installed where the agent looks for skills"
        hint = "Take the key out, and let questions name the skill, not its path."
        problems.append(
            Problem("suite.unsupported", message, origin=document.origin("defaults", "skill_mount_dir"), hint=hint)
        )
    requirements = evals / REQUIREMENTS
    if requirements.is_file() and not has_image and options.requirements == "refuse":
        message = (
            f"{EVALS_FOLDER}/{REQUIREMENTS} wants packages in an image, and there is no {EVALS_FOLDER}/{DOCKERFILE}"
        )
        hint = (
            "Write a Dockerfile that installs them and take --sandbox docker; or install them here, and say "
            "--set formats.benchflow.requirements=ignore."
        )
        problems.append(Problem("suite.unsupported", message, origin=Origin(str(requirements)), hint=hint))
    return problems


def _told(document: Document, file: EvalsFile, skill: Skill, image: Sequence[FileSpec]) -> list[Problem]:
    """Report differences between the run and the file."""
    name = file.skill_name
    problems = []
    if image:
        message = f"{EVALS_FOLDER}/{DOCKERFILE} is the image of these cases, which sandbox 'docker' runs; others refuse"
        hint = "Take --sandbox docker, or do without the image: --set formats.benchflow.image=ignore."
        problems.append(
            replace(_warning("image", message, Origin(str(skill.root / EVALS_FOLDER / DOCKERFILE))), hint=hint)
        )
    if name and not is_safe_name(name):
        message = f"skill_name {name!r} cannot be that of a folder; the skill is called {skill.name!r}"
        problems.append(_warning("skill-name", message, document.origin("skill_name")))
    elif name and name != skill.name:
        message = f"skill_name is {name!r}, but the skill is called {skill.name!r}{did_you_mean(name, [skill.name])}"
        problems.append(_warning("skill-name", message, document.origin("skill_name")))
    message = "there is neither expected_behavior nor ground_truth, so its reward is 0 whatever the agent does"
    for index, case in enumerate(file.cases):
        if not case.expected_behavior and not case.ground_truth.strip():
            problems.append(_warning("no-answer", message, document.origin("cases", index)))
    return problems


def _warning(code: str, message: str, origin: Origin) -> Problem:
    return Problem(f"suite.{code}", message, origin=origin, severity=Severity.WARNING)
