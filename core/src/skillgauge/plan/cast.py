"""All that takes part in a run, found and made once, with everything that is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillgauge_documents.immutables import immutable

from ..contract.executors import Executor
from ..contract.providers import Traits
from ..contract.stores import Store
from ..environment import secret
from ..errors import Problem, errors_among
from ..plugins.collecting import collected, found_by
from ..plugins.kinds import EXECUTORS
from ..plugins.registry import Registry
from ..run.scorers import Scorers
from ..types.plan import SuitePlan
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
from .judging import Judging, find_judges, wanted_judges
from .options import EvalOptions, as_opened
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
    """`None`: none that is installed will do, or nobody wants to know."""
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
    return await _Casting(options, suites, surveys, registry).cast()


class _Casting:
    """A cast that is being found: what is asked for, who was found first, and what is wrong so far.

    Args:
        options: what the user asks for.
        suites: what was loaded.
        surveys: one of each suite.
        registry: the run's plugins.
    """

    def __init__(self, options: EvalOptions, suites: Suites, surveys: Sequence[Survey], registry: Registry) -> None:
        self._options, self._who, self._how = options, options.who, options.how
        self._suites, self._surveys = suites, surveys
        self._registry = registry
        self._adapters = Adapters(registry)
        self._engines = Engines(registry, options.who.replay)
        self._scorers = Scorers(registry)
        self._problems: list[Problem] = []

    async def cast(self) -> Cast:
        """Find everybody.

        Raises:
            SkillgaugeError: what is asked for contradicts itself.
        """
        who, how, engines, scorers = self._who, self._how, self._engines, self._scorers
        problems, missing = self._problems, list[Problem]()
        maker = CellMaker(self._adapters, engines, self._options, missing)
        plans = tuple(maker.plan(suite, problems) for suite in self._suites.suites)
        problems += bare_timeout(how.timeout_s, is_bare=how.timeout_is_bare, runs_agents=bool(engines.setups))

        passed = {variable: origin for survey in self._surveys for variable, origin in survey.passed.items()}
        missing += unset_variables(passed, secret)
        if how.untrusted:
            problems += withheld_variables(self._suites.targets, passed)
        problems += self._scorer_problems()

        judging = Judging()
        if who.judge_required or scorers.judged:
            judging = self._find_judging(plans)
        problems += unconfined_judges(judging.starting_programs, untrusted=how.untrusted)
        missing += await found_by((self._adapters.problems(), engines.problems(), judging.check()))
        problems += weighed(dict.fromkeys(missing), dry_run=how.dry_run)  # several suites may miss the same

        spenders = {f"engine {name!r}": traits for name, traits in engines.traits().items()} | judging.spenders
        problems += uncountable_limits(how.budget, spenders)

        provenance = self._registry.provenance()
        problems += engines.unclaimed(who.models)  # looks at engines that are no part of the run
        (sandbox, images), (store, executor, absent) = await asyncio.gather(self._find_sandbox(), self._find_keeping())
        problems += absent
        problems += unshared_budget(how.budget.shared, store, spenders)
        problems += unshared_services(how.services, store, spenders)
        if who.record:
            with collected(problems):
                engines.player()  # which also records
        return Cast(
            suites=plans,
            adapters=self._adapters,
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

    def _scorer_problems(self) -> Iterator[Problem]:
        """Return the problems of cases, of the scorers that checks name, and of their users if these are asked."""
        users = self._who.executes and not self._who.replay  # what is played back has all turns
        of_cases = [problem for survey in self._surveys for problem in survey.problems]
        of_checks = self._scorers.inspect(check for survey in self._surveys for check in survey.asked(users=users))
        return scorer_problems([*of_cases, *of_checks])

    def _find_judging(self, plans: Sequence[SuitePlan]) -> Judging:
        """Return the judges of a run that needs one, not checked yet."""
        who, registry = self._who, self._registry
        names, models = wanted_judges(who, self._suites.suites, registry)
        runners = [cell.runner for cell in cells_of(plans)]
        files = self._files_with_judged()
        return find_judges(names, models, who.judge_temperature, registry, runners, files)

    def _files_with_judged(self) -> list[str]:
        """Return the files whose checks ask a judge, each once, as the user can open them."""
        judged = self._scorers.judged
        origins = (check.origin for survey in self._surveys for check in survey.asked() if check.scorer in judged)
        files = dict.fromkeys(Path(origin.file) for origin in origins if origin)
        return [as_opened(file, self._options.cwd) for file in files]

    async def _find_sandbox(self) -> tuple[ChosenSandbox | None, tuple[BroughtImage, ...]]:
        """Return the sandbox and what it makes of the images of cases; no program is started once there is an error."""
        how, untrusted, problems = self._how, self._how.untrusted, self._problems
        cases = [case for survey in self._surveys for case in survey.images if self._who.executes]
        if not (how.tries_sandbox or cases):
            return None, ()
        sandbox: ChosenSandbox | None = None
        absent: list[Problem] = []
        with collected(absent):
            sandbox = await choose_sandbox(self._who.sandbox, self._registry, untrusted=untrusted)
        problems += weighed(absent, dry_run=how.only_suites)
        if sandbox is None:
            return None, ()
        name, report, engines = sandbox.name, sandbox.report, self._engines.traits()
        images: tuple[BroughtImage, ...] = ()
        with collected(problems):
            if report.runs_images:
                images = await plan_images(cases, sandbox.sandbox, untrusted=untrusted)
            image_plans = [image.plan for image in images]
            unable = [
                *engines_out_of_reach(engines, name, is_remote=report.is_remote),
                *image_problems(cases, image_plans, name, runs_images=report.runs_images, untrusted=untrusted),
            ]
            problems += report.problems
            problems += weighed(unable, dry_run=how.dry_run)
            if not (how.dry_run or unable or errors_among(problems)):
                problems += await unfit_programs(cases, engines, sandbox.sandbox, untrusted=untrusted)
        return sandbox, images

    async def _find_keeping(self) -> tuple[Store | None, Executor | None, list[Problem]]:
        """Return what keeps the run, what decides where its trials run, and what is wrong with them.

        It waits for nothing, but is imported while the process that tries the sandbox runs.
        """
        who, registry = self._who, self._registry
        store, executor, problems, absent = None, None, list[Problem](), list[Problem]()
        with collected(absent):
            serving = [one.name for one in serving_stores(who.store, registry)]
            problems += unkept_run(who.store, serving, is_given=who.store_given)
            store = choose_store(who.store, registry, is_explicit=who.store_given)
            if who.executor:
                executor = registry.make(EXECUTORS, who.executor)
        return store, executor, [*problems, *weighed(absent, dry_run=self._how.only_suites)]
