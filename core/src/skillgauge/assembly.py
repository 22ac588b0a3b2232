"""From what a user asks for to a plan and the job that carries it out: finds, loads and checks everything first.

Nothing runs before every problem of every file, plugin and option is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .aggregation import FigureSource
from .config import Config
from .discovery import Found, discover, load
from .errors import EmptySelection, Origin, PluginError, Problem, Severity, SkillgaugeError, SuiteError, UsageError
from .execution import Grading, OpenStage, RetryPolicy
from .judging import find_judge
from .ledger import MemoryStore
from .pipeline import EventSink, Job, NoEvents
from .planning import Cell, Plan, Selection, SuitePlan, make_plan
from .protocols import Adapter, Sandbox, Scorer, Store, SuiteFormat, Tier
from .registry import ADAPTERS, FORMATS, SANDBOXES, SCORERS, STORES, Registry
from .scoring import BoundScorer
from .secrets import Redactor
from .stages import DirectStages
from .surroundings import host_environment
from .types.frozen import EMPTY, JsonObject
from .types.result import Figure, GroupSummary
from .types.suite import ArmKind, Check, Limits, Suite, Target
from .types.trial import Identity, SuiteHead

_SEPARATE = "Evaluate them in separate runs."


@dataclass(frozen=True)
class Request:
    """What a user asks to have evaluated."""

    cwd: Path
    paths: tuple[Path, ...] = ()
    """Absolute paths for any format to claim."""
    format_paths: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Absolute paths for one format, by its name."""
    suite_format: str | None = None
    format_options: JsonObject = EMPTY
    selection: Selection = field(default_factory=Selection)
    timeout_s: float | None = None
    """As given on the command line for this run; before a suite's default, after a case's own."""
    runs: int = 1
    seed: int = 0
    concurrency: int = 4
    retries: int = 0
    sandbox: str | None = None
    judge: str | None = None
    """A judge's name, or a model id that one of the installed judges claims."""
    judge_model: str | None = None
    store: str | None = None
    """Path or address of the store; `None` keeps the run in this process."""
    store_given: bool = False
    """Whether the user chose the store, so that its absence is an error."""
    fresh: bool = False
    keep_workspaces: bool = False


@dataclass(frozen=True)
class Assembled:
    """A plan that may run."""

    plan: Plan
    job: Job
    warnings: tuple[Problem, ...]
    passed_over: tuple[Problem, ...]
    """Bad files that a search passed over; the run's exit code is 2 in the end."""
    sandbox: str
    """Name and tier of the sandbox in force."""


async def assemble(request: Request, registry: Registry, config: Config) -> Assembled:
    """Find and check everything that a run needs.

    Raises:
        SkillgaugeError: with every problem that was found; nothing has run.
    """
    formats = load_formats(registry)
    suites, passed_over = find_suites(request, formats)
    scorers = _Scorers(registry)
    adapters = _Adapters(registry)
    plans, problems = [], list[Problem]()
    for suite in suites:
        cells = _cells(suite, request, adapters, config, problems)
        if cells is not None:
            plans.append(cells)
    problems.extend(await adapters.problems())
    judge = await find_judge(request.judge, request.judge_model, registry)
    plan, found = make_plan(
        plans,
        runs=request.runs,
        seed=request.seed,
        limits=Limits(timeout_s=request.timeout_s),
        versions=lambda: registry.provenance() | judge.versions,
        inspect_check=scorers.inspect,
    )
    problems.extend(_distinct(found))
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SuiteError([*errors, *passed_over])
    if plan.head.trial_count == 0:
        if passed_over:
            raise SuiteError(passed_over)
        raise _nothing_selected(suites, request.selection)
    warnings = [problem for suite in suites for problem in suite.warnings]
    warnings += [problem for problem in problems if problem.severity is Severity.WARNING]
    events = _events(registry)
    warnings += [replace(problem, severity=Severity.WARNING) for problem in registry.failures.values()]
    sandbox, name, tier = await _sandbox(request, registry)
    stages = DirectStages(adapters.of, sandbox, keep=request.keep_workspaces)
    openers: dict[ArmKind, OpenStage] = {ArmKind.DIRECT: stages}
    job = Job(
        stages=openers,
        grading=Grading(scorers.bind, {suite.id: suite.on_agent_limit for suite in suites}, judge.judge, judge.digest),
        figures=figure_source(formats),
        store=_store(request, registry, warnings),
        concurrency=request.concurrency,
        retry=RetryPolicy(request.retries),
        events=events,
        fresh=request.fresh,
        clean=_redactor(suites, judge.secrets, warnings).redact,
        close=stages.close,
    )
    return Assembled(
        plan=plan,
        job=job,
        warnings=tuple(warnings),
        passed_over=passed_over,
        sandbox=f"{name}/{tier}",
    )


def load_formats(registry: Registry) -> dict[str, SuiteFormat]:
    """Every installed format that works, by name."""
    formats = registry.make_all(FORMATS)
    if formats:
        return formats
    broken = list(registry.failures.values())
    none = Problem(
        "plugin.not-installed",
        "no suite format is installed, so nothing can be read",
        hint="Install one, for example: pip install skillgauge-format-eval-skills",
    )
    raise PluginError([none, *broken])


def find_suites(request: Request, formats: Mapping[str, SuiteFormat]) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
    """Load what the request names; see `discovery.load`."""
    found: dict[str, Found] = {}
    for name, paths in request.format_paths.items():
        discover(paths, {name: formats[name]}, found, forced=True)
    if request.suite_format is not None:
        if request.suite_format not in formats:
            known = ", ".join(sorted(formats))
            raise UsageError(
                Problem(
                    "plugin.not-installed", f"format {request.suite_format!r} is not installed (installed: {known})"
                )
            )
        discover(request.paths, {request.suite_format: formats[request.suite_format]}, found, forced=True)
    else:
        discover(request.paths, formats, found)
    suites, passed_over = load(found, formats, cwd=request.cwd, options=request.format_options)
    places: dict[str, list[str]] = {}
    for suite in suites:
        places.setdefault(suite.id, []).append(suite.root)
    doubled = [
        Problem("suite.duplicate-id", f"several suites are called {one!r}: {', '.join(roots)}", hint=_SEPARATE)
        for one, roots in places.items()
        if len(roots) > 1
    ]
    if doubled:
        raise SuiteError(doubled)
    return suites, passed_over


def _cells(
    suite: Suite, request: Request, adapters: _Adapters, config: Config, problems: list[Problem]
) -> SuitePlan | None:
    """The cells of a suite; `None` and a problem if nothing can run it."""
    wanted = request.selection.targets
    targets = [target for target in suite.targets if not wanted or target.id in wanted]
    default = Limits(timeout_s=config.get("timeoutMs") / 1000)
    cells = []
    for target in targets:
        for arm in suite.arms:
            if arm.kind is not ArmKind.DIRECT:
                problems.append(
                    Problem(
                        "engine.none",
                        f"suite {suite.id!r} needs an agent engine, and none is installed",
                        origin=suite.origin,
                    )
                )
                return None
            identity = adapters.identity(target, problems)
            if identity is not None:
                limits = target.limits.over(suite.defaults.limits).over(default)
                cells.append(Cell(arm=arm, runner=identity, target=target, limits=limits))
    return SuitePlan(suite, tuple(cells), request.selection)


class _Adapters:
    """The adapters of a run, each made once, with what is wrong with them and their targets."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, Adapter] = {}
        self._refused: set[str] = set()

    def identity(self, target: Target, problems: list[Problem]) -> Identity | None:
        name = target.adapter
        if name is None:
            problems.append(
                Problem("suite.no-adapter", f"target {target.id!r} cannot be called directly", origin=target.origin)
            )
            return None
        if name not in self._made:
            try:
                self._made[name] = self._registry.make(ADAPTERS, name, origin=target.origin_of("adapter"))
            except PluginError as error:
                problems.extend(_at(problem, target.origin_of("adapter")) for problem in error.problems)
                return None
        adapter = self._made[name]
        found = adapter.check_target(target)
        problems.extend(_at(problem, target.origin_of("config")) for problem in found)
        if any(problem.severity is Severity.ERROR for problem in found):
            return None
        return adapter.identity(target)

    def of(self, target: Target) -> Adapter:
        return self._made[target.adapter or ""]

    async def problems(self) -> list[Problem]:
        return [problem for adapter in self._made.values() for problem in await adapter.check()]


class _Scorers:
    """The scorers of a run, checked before it and made per check."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def inspect(self, check: Check) -> Sequence[Problem]:
        try:
            resolved = self._registry.resolve(SCORERS, check.scorer)
            self._registry.validated_options(resolved, check.options, check.origin)
        except PluginError as error:
            return error.problems
        return ()

    def bind(self, check: Check) -> BoundScorer:
        scorer: Scorer = self._registry.make(SCORERS, check.scorer, check.options, origin=check.origin)
        return BoundScorer(self._registry.resolve(SCORERS, check.scorer).name, scorer)


def _redactor(suites: Sequence[Suite], secrets: Sequence[str], warnings: list[Problem]) -> Redactor:
    """Knows the values that targets and the judge get from the environment, so that they are in no result."""
    redactor = Redactor()
    environ = host_environment()
    passed = {name for suite in suites for target in suite.targets for name in target.pass_env}
    for name in sorted(passed | set(secrets)):
        try:
            redactor.register(name, environ.get(name, ""))
        except ValueError as error:
            if environ.get(name):
                warnings.append(Problem("secrets.short", str(error), severity=Severity.WARNING))
    return redactor


def _at(problem: Problem, origin: Origin | None) -> Problem:
    if problem.origin or origin is None:
        return problem
    return Problem(problem.code, problem.message, origin, problem.span, problem.hint, problem.severity)


def _distinct(problems: Iterable[Problem]) -> list[Problem]:
    """A scorer that is absent is one problem, however many checks name it."""
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        key = (problem.code, problem.message) if problem.code.startswith("plugin.") else (problem.code, str(problem))
        seen.setdefault(key, problem)
    return list(seen.values())


def _nothing_selected(suites: Sequence[Suite], selection: Selection) -> SkillgaugeError:
    if not selection.is_given:
        return SuiteError(
            Problem("suite.empty", "there is nothing to run: no suite has a case that applies to a target")
        )
    have = sorted({target.id for suite in suites for target in suite.targets})
    return EmptySelection(
        Problem(
            "usage.nothing-selected",
            f"the selection matches no case (targets here: {', '.join(have[:10]) or 'none'})",
            hint="Run with --dry-run and without --case, --tag and --target to see what there is.",
        )
    )


async def _sandbox(request: Request, registry: Registry) -> tuple[Sandbox, str, Tier]:
    """The sandbox that was named, else the strongest installed one that works here."""
    if request.sandbox is not None:
        sandbox = registry.make(SANDBOXES, request.sandbox)
        report = await sandbox.check()
        if report.problems:
            raise PluginError(report.problems)
        return sandbox, request.sandbox, report.tier
    strength = list(Tier)
    best: tuple[Sandbox, str, Tier] | None = None
    problems: list[Problem] = []
    for one in registry.load_all(SANDBOXES):
        sandbox = registry.make(SANDBOXES, one)
        report = await sandbox.check()
        problems.extend(report.problems)
        if not report.problems and (best is None or strength.index(report.tier) < strength.index(best[2])):
            best = (sandbox, one.name, report.tier)
    if best is None:
        none = Problem(
            "plugin.not-installed",
            "no sandbox is installed that works here, and every process runs in one",
            hint="pip install skillgauge-sandbox-local",
        )
        raise PluginError([none, *problems])
    return best


def _store(request: Request, registry: Registry, warnings: list[Problem]) -> Store:
    """The store to use; without any installed one, and none asked for, this process."""
    if registry.names("stores") or request.store_given:
        return open_store(request.store, registry)
    if request.store is not None:
        warnings.append(
            Problem(
                "store.none",
                "no store is installed: this run is kept in memory, and nothing can be resumed",
                hint="pip install skillgauge-store-sqlite",
                severity=Severity.WARNING,
            )
        )
    return MemoryStore()


def open_store(location: str | None, registry: Registry) -> Store:
    """The store for a place: a plugin says which address schemes it serves, `file` standing for plain paths.

    Args:
        location: path or address; `None` takes a store in this process.
        registry: the run's plugins.
    """
    if location is None:
        return MemoryStore()
    scheme = location.partition("://")[0] if "://" in location else "file"
    for one in registry.load_all(STORES):
        if scheme in one.provider.traits.schemes:
            return registry.make(STORES, one, {"location": location})
    hint = "pip install skillgauge-store-sqlite" if scheme == "file" else f"pip install skillgauge-store-{scheme}"
    problem = Problem("plugin.not-installed", f"no installed store keeps runs in {location!r}", hint=hint)
    raise PluginError([problem, *registry.failures.values()])


def _events(registry: Registry) -> EventSink:
    events = registry.events()
    return events if events.active else NoEvents()


def figure_source(formats: Mapping[str, SuiteFormat]) -> FigureSource:
    """Asks the format of a group's suite for its figures."""

    def figures(head: SuiteHead, group: GroupSummary) -> tuple[Figure, ...]:
        one = formats.get(head.format)
        return one.figures(group, head) if one else ()

    return figures
