"""All that takes part in a run, found and made once, with everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge_documents.immutables import immutable

from ..contract.executors import Executor
from ..contract.providers import Traits
from ..contract.stores import Store
from ..environment import secret
from ..errors import Origin, Problem, errors_among
from ..plugins.collecting import collected
from ..plugins.kinds import EXECUTORS
from ..plugins.registry import Registry
from ..run.scorers import Scorers
from ..types.inputs import HostVariable
from ..types.plan import SuitePlan
from ..types.suite import Case
from .adapters import Adapters
from .cells import CellMaker
from .checks.budget import uncountable_limits, unshared_budget, unshared_services
from .checks.dry_run import weighed
from .checks.images import image_problems
from .checks.judges import unconfined_judges
from .checks.limits import bare_timeout
from .checks.programs import unfit_programs
from .checks.sandboxes import engines_out_of_reach
from .checks.scorers import scorer_problems
from .checks.stores import unkept_run
from .checks.variables import unset_variables, withheld_variables
from .engines import Engines
from .images import BroughtImage, plan_images
from .judging import Judging, checked, find_judges, wanted_judges
from .options import EvalOptions, Who, as_opened
from .planning import cells_of
from .resources import ChosenSandbox, choose_sandbox, choose_store, serving_stores
from .suites import Suites
from .survey import Survey


@immutable
class Cast:
    """The plugins that take part, and the cells in which they do; usable if none of the problems is an error."""

    suites: tuple[SuitePlan, ...]
    adapters: Adapters
    engines: Engines
    scorers: Scorers
    judging: Judging
    spenders: Mapping[str, Traits]
    """Engines and paid judges, by their names in messages, with what they announce."""
    sandbox: ChosenSandbox | None
    """`None`: none that is installed will do."""
    images: tuple[BroughtImage, ...]
    """Images that cases bring, as the sandbox makes them."""
    store: Store | None
    """`None`: none that is installed keeps runs in that place."""
    executor: Executor | None
    """`None`: this process."""
    provenance: Mapping[str, str]
    """Version of every distribution that decides what is executed and how it is graded."""
    passed: frozenset[str]
    """Names of variables of the user's environment that cases hand on."""
    problems: tuple[Problem, ...]

    @property
    def paid_scorers(self) -> frozenset[str]:
        """Names in checks of scorers whose verdict costs money."""
        if not self.judging.spenders:
            return frozenset()
        return frozenset(self.scorers.judged)


async def find_cast(options: EvalOptions, suites: Suites, surveys: Sequence[Survey], registry: Registry) -> Cast:
    """Find and make everything that takes part in a run, and ask the questions of `checks` in order; nothing runs yet.

    Raises:
        SkillgaugeError: what the user or the suites ask for contradicts itself, so that no more can be found.
    """
    who, how = options.who, options.how
    problems, missing = list[Problem](), list[Problem]()
    adapters, engines, scorers = Adapters(registry), Engines(registry, who.replay), Scorers(registry)
    maker = CellMaker(adapters, engines, options, missing)
    plans = tuple(maker.plan(suite, problems) for suite in suites.suites)
    problems += bare_timeout(how.timeout_s, is_bare=how.timeout_is_bare, runs_agents=bool(engines.setups))

    passed = _passed_variables(surveys)
    missing += unset_variables(passed, secret)
    if how.untrusted:
        problems += withheld_variables(suites.targets, passed)
    plays = who.executes and not who.replay  # what is played back has all turns
    problems += _scorer_problems(surveys, scorers, users=plays)

    judging = Judging()
    if who.judge_required or scorers.judged:
        files = _files_with(scorers.judged, surveys, options.cwd)
        judging = await _find_judging(options, suites, plans, registry, files)
    problems += unconfined_judges(judging.starting_programs, untrusted=how.untrusted)
    missing += [*await adapters.problems(), *await engines.problems(), *judging.problems]
    problems += weighed(dict.fromkeys(missing), dry_run=how.dry_run)  # several suites may miss the same

    spenders = {f"engine {name!r}": traits for name, traits in engines.traits().items()} | judging.spenders
    problems += uncountable_limits(how.budget, spenders)

    provenance = registry.provenance()
    problems += engines.unclaimed(who.models)  # looks at engines that are no part of the run
    sandbox, images = await _find_sandbox(options, engines, _cases_with_images(who, surveys), registry, problems)
    store, executor = _find_keeping(options, registry, problems)
    problems += unshared_budget(how.budget.shared, store, spenders)
    problems += unshared_services(how.services, store, spenders)
    if who.record:
        with collected(problems):
            engines.player()  # which also records
    return Cast(
        suites=plans,
        adapters=adapters,
        engines=engines,
        scorers=scorers,
        judging=judging,
        spenders=spenders,
        sandbox=sandbox,
        images=images,
        store=store,
        executor=executor,
        provenance=provenance,
        passed=frozenset(variable.host for variable in passed),
        problems=tuple(problems),
    )


def _passed_variables(surveys: Sequence[Survey]) -> dict[HostVariable, Origin | None]:
    return {variable: origin for survey in surveys for variable, origin in survey.passed.items()}


def _cases_with_images(who: Who, surveys: Sequence[Survey]) -> list[Case]:
    if not who.executes:
        return []
    return [case for survey in surveys for case in survey.images]


def _scorer_problems(surveys: Sequence[Survey], scorers: Scorers, *, users: bool) -> Iterator[Problem]:
    """Return the problems of cases, and of the scorers that their checks name, and their users if these are asked."""
    of_cases = [problem for survey in surveys for problem in survey.problems]
    of_checks = scorers.inspect(check for survey in surveys for check in survey.asked(users=users))
    return scorer_problems([*of_cases, *of_checks])


def _find_keeping(
    options: EvalOptions, registry: Registry, problems: list[Problem]
) -> tuple[Store | None, Executor | None]:
    """Return what keeps the run and what decides where its trials run; further problems are added to those so far."""
    who = options.who
    store, executor = None, None
    with collected(problems):
        serving = [one.name for one in serving_stores(who.store, registry)]
        problems += unkept_run(who.store, serving, is_given=who.store_given)
        store = choose_store(who.store, registry, is_explicit=who.store_given)
        if who.executor:
            executor = registry.make(EXECUTORS, who.executor)
    return store, executor


def _files_with(scorers: Collection[str], surveys: Sequence[Survey], cwd: Path) -> list[str]:
    """Return the files whose checks name one of these scorers, each once, as the user can open them."""
    origins = (check.origin for survey in surveys for check in survey.asked() if check.scorer in scorers)
    files = dict.fromkeys(Path(origin.file) for origin in origins if origin)
    return [as_opened(file, cwd) for file in files]


async def _find_judging(
    options: EvalOptions, suites: Suites, plans: Sequence[SuitePlan], registry: Registry, files: Sequence[str]
) -> Judging:
    """Return the judges of a run that needs one for checks of these files."""
    who = options.who
    names, models = wanted_judges(who, suites.suites, registry)
    runners = [cell.runner for cell in cells_of(plans)]
    return await checked(find_judges(names, models, who.judge_temperature, registry, runners, files))


async def _find_sandbox(
    options: EvalOptions, engines: Engines, cases: Sequence[Case], registry: Registry, problems: list[Problem]
) -> tuple[ChosenSandbox | None, tuple[BroughtImage, ...]]:
    """Return the sandbox and what it makes of the images of cases.

    Args:
        options: what the user asks for.
        engines: those of the run.
        cases: that bring an image each.
        registry: the run's plugins.
        problems: those so far; gets further ones. No program is started once there is an error.
    """
    untrusted, dry_run = options.how.untrusted, options.how.dry_run
    sandbox: ChosenSandbox | None = None
    images: tuple[BroughtImage, ...] = ()
    with collected(problems):
        sandbox = await choose_sandbox(options.who.sandbox, registry, untrusted=untrusted)
        report = sandbox.report
        if report.runs_images:
            images = await plan_images(cases, sandbox.sandbox, untrusted=untrusted)
        out_of_reach = engines_out_of_reach(engines.traits(), sandbox.name, is_remote=report.is_remote)
        image_plans = [image.plan for image in images]
        unsuited = image_problems(cases, image_plans, sandbox.name, runs_images=report.runs_images, untrusted=untrusted)
        unable = [*out_of_reach, *unsuited]
        problems += report.problems
        problems += weighed(unable, dry_run=dry_run)
        if not (dry_run or unable or errors_among(problems)):
            problems += await unfit_programs(cases, engines.traits(), sandbox.sandbox, untrusted=untrusted)
    return sandbox, images
