"""From what a user asks for to a plan and the job that carries it out: finds, loads and checks everything first.

Nothing runs before every problem of every file, plugin and option is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from ..contract.formats import SuiteFormat
from ..contract.providers import Traits
from ..contract.sandboxes import Sandbox, Tier
from ..contract.scorers import Scorer
from ..errors import EmptySelection, PluginError, Problem, Severity, SkillgaugeError, SuiteError, UsageError
from ..log import get_logger, keep_out
from ..plugins.kinds import FORMATS, SCORERS
from ..plugins.registry import Registry
from ..reading.config import Config
from ..reading.environment import host_environment
from ..report.summary import FigureSource
from ..run.agents import AgentRules, AgentStages, files_of_skill
from ..run.budget import BudgetLimits, uncountable
from ..run.direct import DirectStages
from ..run.grading import BoundScorer
from ..run.judges import GuardedJudge
from ..run.pipeline import EventSink, Job, NoEvents
from ..run.redaction import Redactor
from ..run.services import Providers
from ..run.trials import Grading, RetryPolicy
from ..types.comparison import GroupKey
from ..types.frozen import EMPTY, JsonObject
from ..types.plan import Plan, Selection
from ..types.result import Figure, SuiteSummary
from ..types.suite import ArmKind, Check, Limits, SkillRole, Suite
from .discovery import Found, discover, load
from .judging import Judging, checked, find_judges
from .overlay import Overlay
from .planning import make_plan
from .resources import choose_sandbox, choose_store
from .runners import Choice, Engines, Runners

log = get_logger(__name__)

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
    timeout_is_bare: bool = False
    """Whether `timeout_s` was given as a number without a unit."""
    timeout_s: float | None = None
    """As given on the command line for this run; before a suite's default, after a case's own."""
    runs: int | None = None
    """Repeats of every case; `None` leaves them to each suite."""
    engines: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    baseline: bool | None = None
    max_turns: int | None = None
    budget: BudgetLimits = field(default_factory=BudgetLimits)
    record: Path | None = None
    """Folder that agent sessions are recorded in."""
    replay: Path | None = None
    """Folder of recordings that are played back in place of agents."""
    untrusted: bool = False
    """Run nothing unless the sandbox confines it strictly, and give skills that are called directly no network."""
    seed: int = 0
    concurrency: int = 4
    retries: int = 0
    sandbox: str | None = None
    judges: tuple[str, ...] = ()
    """Names of judges, or model ids that an installed judge claims; several make a panel."""
    judge_models: tuple[str, ...] = ()
    """One for each judge; without names these pick them."""
    judge_temperature: float | None = None
    judge_required: bool = False
    """Whether the user asked for a judge in this command, so that a run which needs none must have it too."""
    overlay: Overlay = field(default_factory=Overlay)
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
    spenders: Mapping[str, Traits]
    """Engines and paid judges of the run, as people call them, with what they announce."""


async def assemble(request: Request, registry: Registry, config: Config) -> Assembled:
    """Find and check everything that a run needs.

    Raises:
        SkillgaugeError: with every problem that was found; nothing has run.
    """
    formats = load_formats(registry)
    plain_suites, passed_over = find_suites(request, formats)
    suites = tuple(request.overlay.over(suite) for suite in plain_suites)
    scorers = _Scorers(registry, need_judge=request.judge_required)
    runners = Runners(registry, _choice(request, config))
    problems: list[Problem] = []
    plans = [runners.plan(suite, problems) for suite in suites]
    problems += [*await runners.adapters.problems(), *await runners.engines.problems()]
    problems += [*request.overlay.unused(plain_suites), *_unmeasurable(request, runners)]
    named = (request.judges, request.judge_models, request.judge_temperature)
    judges = cache(lambda: find_judges(*named, registry, request.models))
    plan, found = make_plan(
        plans,
        runs=request.runs,
        seed=request.seed,
        limits=Limits(timeout_s=request.timeout_s, max_turns=request.max_turns),
        versions=lambda: (judges().versions if scorers.need_judge else {}) | registry.provenance(),
        inspect_check=scorers.inspect,
    )
    problems.extend(_distinct(found))
    judging = await checked(judges()) if scorers.need_judge else Judging()
    problems += [*judging.problems, *uncountable(request.budget, spenders := _spenders(runners, judging))]
    plan = _judged(plan, judging, scorers)
    _require_work(plan, problems, passed_over, request.selection)
    warnings = [problem for suite in suites for problem in suite.warnings]
    warnings += [problem for problem in problems if problem.severity is Severity.WARNING]
    events = _events(registry)
    sandbox = await choose_sandbox(request.sandbox, registry, least=Tier.STRICT if request.untrusted else Tier.NONE)
    warnings += [*(replace(one, severity=Severity.WARNING) for one in registry.failures.values()), *sandbox.warnings]
    redactor = _redactor(suites, judging, runners.engines, warnings)
    keep_out(redactor.redact)
    direct = _direct_stages(request, runners, sandbox.sandbox, redactor)
    agents = _agent_stages(request, suites, runners, sandbox.sandbox, redactor)
    providers = Providers(request.concurrency)
    job = Job(
        stages={ArmKind.DIRECT: direct, ArmKind.AGENT: agents},
        grading=_grading(suites, scorers, judging, redactor, providers),
        figures=figure_source(formats),
        store=choose_store(request.store, registry, warnings, given=request.store_given),
        concurrency=request.concurrency,
        retry=RetryPolicy(request.retries),
        providers=providers,
        budget=request.budget,
        events=events,
        fresh=request.fresh,
        clean=redactor.redact,
        close=direct.close,
    )
    return Assembled(plan, job, tuple(warnings), passed_over, f"{sandbox.name}/{sandbox.tier}", spenders)


AGENT_TIMEOUT_S = 600.0
"""Time limit of an agent session where nobody sets one."""


def _choice(request: Request, config: Config) -> Choice:
    return Choice(
        selection=request.selection,
        engines=request.engines,
        replay=request.replay,
        models=request.models,
        baseline=request.baseline,
        direct_limits=Limits(timeout_s=config.get("timeoutMs") / 1000),
        agent_limits=Limits(timeout_s=AGENT_TIMEOUT_S),
    )


def _grading(
    suites: Sequence[Suite], scorers: _Scorers, judging: Judging, redactor: Redactor, providers: Providers
) -> Grading:
    return Grading(
        scorers.bind,
        {suite.id: suite.on_agent_limit for suite in suites},
        tuple(GuardedJudge(judge, redactor.redact, providers) for judge in judging.judges),
        judging.digest,
        redactor.redact,
    )


def _unmeasurable(request: Request, runners: Runners) -> list[Problem]:
    """What the user asks for and the engines in use cannot hold to."""
    problems = []
    if runners.engines.setups and request.timeout_is_bare and request.timeout_s is not None:
        milliseconds = f"{request.timeout_s * 1000:g}"
        message = f"--timeout {milliseconds} has no unit, and a session of an agent lasts minutes"
        hint = f"Write --timeout {milliseconds}ms or --timeout {milliseconds}s."
        problems.append(Problem("usage.timeout", message, hint=hint))
    return problems


def _spenders(runners: Runners, judging: Judging) -> dict[str, Traits]:
    """Whoever may cost money, as people call them, with what they announce."""
    judges = zip(judging.identities, judging.traits, strict=True)
    return {f"engine {name!r}": traits for name, traits in runners.engines.traits().items()} | {
        f"judge {one.name!r}": traits for one, traits in judges if traits.paid
    }


def _judged(plan: Plan, judging: Judging, scorers: _Scorers) -> Plan:
    """The plan with who grades it and which verdicts cost money."""
    head = plan.head.model_copy(update={"judges": judging.identities})
    return replace(plan, head=head, paid_scorers=frozenset(scorers.judged if judging.paid else ()))


def _direct_stages(request: Request, runners: Runners, sandbox: Sandbox, redactor: Redactor) -> DirectStages:
    return DirectStages(
        runners.adapters.of,
        sandbox,
        network=not request.untrusted,
        keep=request.keep_workspaces,
        conceal=redactor.values if request.keep_workspaces else EMPTY,
    )


def _agent_stages(
    request: Request, suites: Sequence[Suite], runners: Runners, sandbox: Sandbox, redactor: Redactor
) -> AgentStages:
    candidates = {
        suite.id: frozenset(
            skill.name for arm in suite.arms for skill in arm.skills if skill.role is not SkillRole.DISTRACTOR
        )
        for suite in suites
    }
    recorder = runners.engines.recorder(request.record, redactor.redact) if request.record else None
    return AgentStages(
        runners.engines.setups,
        sandbox,
        read_skill=files_of_skill,
        emit=lambda event: log.debug("agent.event", kind=event.kind, name=event.name),
        rules=AgentRules(
            candidates,
            recorder,
            keep=request.keep_workspaces,
            conceal=redactor.values if request.keep_workspaces else EMPTY,
        ),
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
            message = f"format {request.suite_format!r} is not installed (installed: {', '.join(sorted(formats))})"
            raise UsageError(Problem("plugin.not-installed", message))
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


class _Scorers:
    """The scorers of a run, checked before it and made per check."""

    def __init__(self, registry: Registry, *, need_judge: bool) -> None:
        self._registry = registry
        self._need_judge = need_judge
        self.judged: set[str] = set()
        """Names in checks that were inspected of scorers that need a judge."""

    @property
    def need_judge(self) -> bool:
        """Whether the user, or any check that was inspected, needs a judge."""
        return self._need_judge or bool(self.judged)

    def inspect(self, check: Check) -> Sequence[Problem]:
        try:
            resolved = self._registry.resolve(SCORERS, check.scorer)
            self.judged |= {check.scorer} if resolved.provider.traits.asks_judge else set()
            self._registry.validated_options(resolved, check.options, check.origin)
        except PluginError as error:
            return error.problems
        return ()

    def bind(self, check: Check) -> BoundScorer:
        scorer: Scorer = self._registry.make(SCORERS, check.scorer, check.options, origin=check.origin)
        return BoundScorer(self._registry.resolve(SCORERS, check.scorer).name, scorer)


def _redactor(suites: Sequence[Suite], judging: Judging, engines: Engines, warnings: list[Problem]) -> Redactor:
    """Knows the values that targets, engines and judges get from the environment or a login, so none is in a result."""
    redactor = Redactor()
    environ = host_environment()
    passed = {name for suite in suites for target in suite.targets for name in target.pass_env}
    for name in sorted(passed.union(judging.secrets, engines.secrets())):
        try:
            redactor.register(name, environ.get(name, ""))
        except ValueError as error:
            if environ.get(name):
                warnings.append(Problem("secrets.short", str(error), severity=Severity.WARNING))
    for path in (Path(environ["HOME"], file) for file in engines.login_files() if environ.get("HOME")):
        with suppress(OSError):
            redactor.register_document(path.name, path.read_bytes())
    return redactor


def _distinct(problems: Iterable[Problem]) -> list[Problem]:
    """A scorer that is absent is one problem, however many checks name it."""
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        key = (problem.code, problem.message) if problem.code.startswith("plugin.") else (problem.code, str(problem))
        seen.setdefault(key, problem)
    return list(seen.values())


def _require_work(
    plan: Plan, problems: Sequence[Problem], passed_over: Sequence[Problem], selection: Selection
) -> None:
    """Raise unless there is something to run and nothing against it."""
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise SuiteError([*errors, *passed_over])
    if plan.head.trial_count == 0:
        if passed_over:
            raise SuiteError(passed_over)
        raise _nothing_selected([suite.suite for suite in plan.suites], selection)


def _nothing_selected(suites: Sequence[Suite], selection: Selection) -> SkillgaugeError:
    if not selection.is_given:
        message = "there is nothing to run: no suite has a case that applies to a target"
        return SuiteError(Problem("suite.empty", message))
    have = sorted({target.id for suite in suites for target in suite.targets})
    message = f"the selection matches no case (targets here: {', '.join(have[:10]) or 'none'})"
    hint = "Run with --dry-run and without --case, --tag and --target to see what there is."
    return EmptySelection(Problem("usage.nothing-selected", message, hint=hint))


def _events(registry: Registry) -> EventSink:
    events = registry.events()
    return events if events.active else NoEvents()


def figure_source(formats: Mapping[str, SuiteFormat]) -> FigureSource:
    """Asks the format of a suite for its figures."""

    def figures(summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        one = formats.get(summary.suite.format)
        return one.figures(summary) if one else {}

    return figures
