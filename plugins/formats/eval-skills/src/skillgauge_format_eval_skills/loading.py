"""From paths and options to suites."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import Loaded, LoadRequest, Origin, Problem, Severity, Suite, SuiteError, Target, read_document

from .benchmarks import COMPLETION, DEFAULT, Wanted
from .claiming import BENCHMARK, SKILL_FILE, claim
from .files import number
from .options import EvalSkillsOptions
from .skills import load_skill
from .tasks import Benchmark, Source, load_benchmark

FORMAT = "eval-skills"
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})


def load(request: LoadRequest, options: EvalSkillsOptions) -> Loaded:
    """Load every skill and benchmark that a request comes to.

    Raises:
        SuiteError: a named file is bad, or the benchmark cannot be used.
    """
    if "benchmark" in request.options and "tasks" not in request.options:
        options = options.model_copy(update={"tasks": None})  # configured tasks would take the benchmark's place
    loading = _Loading(request, options)
    loading.sort()
    targets = loading.targets()
    benchmarks = loading.benchmarks() if targets or loading.fatal or loading.named_benchmarks else []
    if loading.fatal:
        raise SuiteError([*loading.fatal, *loading.passed_over])
    if not targets:
        return Loaded((), tuple(loading.passed_over))
    warnings = tuple(loading.warnings)
    suites = []
    for benchmark in benchmarks:
        suites.append(_suite(benchmark, targets, request.cwd, warnings))
        warnings = ()  # those about skills are the same for all suites
    return Loaded(tuple(suites), tuple(loading.passed_over))


@dataclass
class _Loading:
    """The state of one load request; problems are collected until everything was read."""

    request: LoadRequest
    options: EvalSkillsOptions
    skill_files: dict[str, tuple[Path, bool]] = field(default_factory=dict)
    """Path and whether a search found it, by real path: a file named twice is loaded once."""
    named_benchmarks: list[Path] = field(default_factory=list)
    found_benchmarks: list[Path] = field(default_factory=list)
    fatal: list[Problem] = field(default_factory=list)
    passed_over: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def sort(self) -> None:
        """Tell skills from benchmarks, and search the folders that only hold some."""
        for text in self.request.paths:
            self._add(Path(text), searched=False)
        for text in self.request.searched:
            self._add(Path(text), searched=True)
        paths = [Path(text) for text in (*self.request.paths, *self.request.searched)]
        for word in self.options.skills:
            path = Path(os.path.normpath(Path(self.request.cwd, word)))
            # The kernel may have resolved these words already, as it does with positional paths.
            if not any(one == path or path in one.parents for one in paths):
                self._add(path, searched=False)

    def _add(self, path: Path, *, searched: bool) -> None:
        if path.is_dir() and claim(path) is None and not searched:
            skills = list(_skills_below(path))
            for file in skills:
                self._add(file, searched=True)
            if not skills:
                message = f"no {SKILL_FILE} in this folder or below it"
                self.fatal.append(Problem("suite.no-skills", message, Origin(str(path))))
            return
        file = path / SKILL_FILE if path.is_dir() else path
        claimed = claim(file)
        if claimed is not None and claimed.dialect == BENCHMARK:
            (self.found_benchmarks if searched else self.named_benchmarks).append(file)
        else:
            self.skill_files.setdefault(os.path.realpath(file), (file, searched))

    def targets(self) -> tuple[Target, ...]:
        """The skills, those left out that are bad."""
        loaded: dict[str, Target] = {}
        for file, searched in self.skill_files.values():
            try:
                target, warnings = load_skill(file)
            except SuiteError as error:
                (self.passed_over if searched else self.fatal).extend(error.problems)
                continue
            self.warnings += warnings
            first = loaded.setdefault(target.id, target)
            if first is not target:
                self.fatal.append(_same_id(first, target))
        if not self.skill_files and self.named_benchmarks:
            self.fatal.append(_no_skills(self.named_benchmarks[0], Severity.ERROR))
        elif not self.skill_files and self.found_benchmarks:
            self.passed_over.append(_no_skills(self.found_benchmarks[0], Severity.WARNING))
        return tuple(loaded.values())

    def benchmarks(self) -> list[Benchmark]:
        """The benchmarks that are asked for, by option or by path, else the default one."""
        cwd = Path(self.request.cwd)
        loaded: list[Benchmark] = []
        for name in self._wanted():
            try:
                source, warnings = self._source(name, cwd)
                loaded.append(load_benchmark(source, evaluator=self.options.evaluator, cwd=cwd))
            except SuiteError as error:
                self.fatal += error.problems
            else:
                self.warnings += warnings
        return loaded

    def _wanted(self) -> list[str | Path]:
        """Names to look up, and paths to open."""
        paths: list[str | Path] = list(self.named_benchmarks)
        if self.options.tasks is not None:
            paths.append(Path(self.request.cwd, self.options.tasks))
        elif self.options.benchmark is not None:
            paths.append(self.options.benchmark)
        if not paths:
            self.warnings.append(self._default_taken())
        return paths or [DEFAULT]

    def _default_taken(self) -> Problem:
        """Nobody must think that a skill was evaluated on its own tests when it was not."""
        own = [file for skill, _ in self.skill_files.values() for file in _own_tests(skill.parent)]
        message, named = f"no benchmark is named, so the built-in {DEFAULT!r} is taken", "ID-or-PATH"
        if own:
            cwd = Path(self.request.cwd)
            shown = own[0].relative_to(cwd) if own[0].is_relative_to(cwd) else own[0]
            named = shlex.quote(str(shown))
            message += f", and not the tests that lie beside a skill: {shown}"
            message += f" and {len(own) - 1} more" if len(own) > 1 else ""
        hint = f"Name one: --benchmark {named}, or --benchmark {DEFAULT} to stay with this."
        return Problem("suite.default-benchmark", message, hint=hint, severity=Severity.WARNING)

    def _source(self, name: str | Path, cwd: Path) -> tuple[Source, tuple[Problem, ...]]:
        if isinstance(name, Path):
            return Source(read_document(name), name), ()
        return Wanted(name, cwd / self.options.benchmarks_dir, cwd).find()


def _own_tests(folder: Path) -> Iterator[Path]:
    """Benchmarks in a skill's folder, or in one that is called as if it held tests."""
    for place in (folder, folder / "tests", folder / "evals", folder / "benchmarks"):
        for file in sorted(place.glob("*.json")) if place.is_dir() else ():
            claimed = claim(file)
            if claimed is not None and claimed.dialect == BENCHMARK:
                yield file


def _skills_below(folder: Path) -> Iterator[Path]:
    for parent, names, _ in os.walk(folder):
        names[:] = sorted(name for name in names if name[0] != "." and name not in _SKIPPED_FOLDERS)
        for name in list(names):
            path = Path(parent, name)
            if claim(path) is not None:
                names.remove(name)
                yield path / SKILL_FILE


def _suite(benchmark: Benchmark, targets: tuple[Target, ...], cwd: str, warnings: tuple[Problem, ...]) -> Suite:
    file, source = benchmark.file, benchmark.source
    root = str(source.path) if source.path else targets[0].root if len(targets) == 1 else None
    limit = None if file.max_latency_ms is None else number(file.max_latency_ms)
    parameters = {"scoringMethod": file.scoring_method, "maxLatencyMs": limit, "domain": file.domain}
    return Suite(
        id=file.id,
        name=file.name,
        version=file.version,
        description=file.description,
        format=FORMAT,
        dialect=BENCHMARK,
        root=root or cwd,
        digest=benchmark.digest,
        cases=benchmark.cases,
        targets=targets,
        document=FORMAT,
        completion=COMPLETION,
        parameters={key: value for key, value in parameters.items() if value is not None},
        extras={**(file.model_extra or {}), **({"metadata": file.metadata} if file.metadata else {})},
        warnings=(*warnings, *benchmark.warnings),
        origin=source.document.origin(),
    )


def _same_id(first: Target, second: Target) -> Problem:
    places = [target.origin.file if target.origin else "" for target in (first, second)]
    return Problem(
        "suite.duplicate-id",
        f"two skills have the id {first.id!r}: {places[0]} and {places[1]}",
        origin=Origin(places[1], ("id",)),
        hint="Give one of them another id, or evaluate them in separate runs.",
    )


def _no_skills(benchmark: Path, severity: Severity) -> Problem:
    return Problem(
        "suite.no-skills",
        "this is a benchmark, and no skill is given to evaluate on it",
        origin=Origin(str(benchmark)),
        hint=f"Name the skills too: --skills PATH --benchmark {shlex.quote(str(benchmark))}",
        severity=severity,
    )
