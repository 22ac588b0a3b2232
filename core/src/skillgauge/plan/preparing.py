"""From what a user asks for to a plan and the job that carries it out.

Nothing runs before every problem of every file, plugin and option is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from skillgauge_documents.immutables import immutable

from ..errors import EmptySelection, Problem, Severity, SuiteError, errors_among
from ..plugins.registry import Registry
from ..types.arms import ArmKind
from ..types.plan import Plan
from ..types.suite import Limits
from ..types.trial import PlanHead
from .cast import Cast, find_cast
from .checks.secrets import find_secrets
from .options import EvalOptions
from .planning import Terms, cells_of, make_plan
from .suites import Suites, load_suites
from .survey import survey

if TYPE_CHECKING:
    from ..run.pipeline import Job


@immutable
class Prepared:
    """A plan that may run."""

    plan: Plan
    cast: Cast
    suites: Suites
    warnings: tuple[Problem, ...]
    make_job: Callable[[], Job]
    """Makes the job; called when it is first asked for, which nobody does who only wants to know what would run."""

    @cached_property
    def job(self) -> Job:
        """Everybody who takes part, in the place where they work."""
        return self.make_job()

    def with_job(self, change: Callable[[Job], Job]) -> Prepared:
        """Return the same with another job, which is made of this one when it is first asked for."""
        return replace(self, make_job=lambda: change(self.job))

    @property
    def sandbox(self) -> str:
        """Name and tier of the sandbox in force."""
        chosen = self.cast.sandbox
        return f"{chosen.name}/{chosen.report.tier}" if chosen else "none"

    @property
    def has_agents(self) -> bool:
        """True if agents carry anything out; else everything is called directly."""
        return any(cell.arm.kind is ArmKind.AGENT for cell in cells_of(self.plan.suites))


async def prepare(options: EvalOptions, registry: Registry) -> Prepared:
    """Find and check everything that a run needs.

    Raises:
        SkillgaugeError: with every problem that was found; nothing has run.
    """
    return await _Preparation(options, registry).prepared()


class _Preparation:
    """A run that is being prepared: what is asked for, and the suites that it is about.

    Args:
        options: what the user asks for.
        registry: the run's plugins.

    Raises:
        SkillgaugeError: a suite cannot be found or loaded.
    """

    def __init__(self, options: EvalOptions, registry: Registry) -> None:
        self._options = options
        self._registry = registry
        self._suites = load_suites(options.what, options.cwd, registry)
        self._surveys = [survey(suite, options.what.selection) for suite in self._suites.suites]

    async def prepared(self) -> Prepared:
        """Find everybody who takes part, and plan what they do.

        Raises:
            SkillgaugeError: with every problem that was found.
        """
        options, suites, registry = self._options, self._suites, self._registry
        cast = await find_cast(options, suites, self._surveys, registry)
        terms = self._terms(cast)
        plan = make_plan(cast.suites, self._surveys, terms)
        self._require_work(plan, [*cast.problems, *self._undetectable(terms), *_undecidable(plan.head, terms)])
        login_files = cast.engines.login_files()
        redactor, short = find_secrets(suites.suites, cast.passed, login_files, options.who.store, registry)
        failures = [replace(one, severity=Severity.WARNING) for one in registry.failures.values()]
        warnings = (*suites.warnings, *cast.problems, *failures, *short)

        def job() -> Job:
            from .job import make_job  # noqa: PLC0415 - all that carries a plan out; few commands do

            return make_job(options, suites, cast, registry, redactor)

        return Prepared(plan, cast, suites, warnings, job)

    def _terms(self, cast: Cast) -> Terms:
        how = self._options.how
        return Terms(
            runs=how.runs,
            detect=how.detect,
            until_decided=how.until_decided,
            seed=how.seed,
            limits=Limits(timeout_s=how.timeout_s, max_turns=how.max_turns),
            judges=tuple(one.identity for one in cast.judging.found),
            paid_scorers=cast.paid_scorers,
            provenance=cast.provenance,
        )

    def _undetectable(self, terms: Terms) -> Iterator[Problem]:
        for suite, surveyed in zip(self._suites.suites, self._surveys, strict=True):
            if terms.repeats(suite, surveyed.selected) is None:
                from ..stats import MOST_REPEATS  # noqa: PLC0415 - few plans need statistics

                points = f"{(terms.detect or 0) * 100:.0f} points"
                message = (
                    f"suite {suite.id!r} has too few cases to show a lift of {points}, even with {MOST_REPEATS} runs"
                )
                word = "until-decided" if terms.until_decided else "auto"
                hint = f"Add cases, or ask for more points: --runs {word}:POINTS."
                yield Problem("usage.detect", message, hint=hint)

    def _require_work(self, plan: Plan, problems: Sequence[Problem]) -> None:
        """Raise unless there is something to run and nothing against it."""
        errors = errors_among([*self._suites.warnings, *problems])
        if errors:
            raise SuiteError([*errors, *self._suites.passed_over])
        if self._options.who.executes and not plan.head.trial_count:
            self._refuse_emptiness()

    def _refuse_emptiness(self) -> None:
        """Raise unless it is no mistake that there is nothing to run."""
        SuiteError.raise_for(self._suites.passed_over)
        if self._options.what.selection.is_given:
            raise _nothing_selected(self._suites)
        if not any(suite.may_be_empty for suite in self._suites.suites):
            message = "there is nothing to run: no suite has a case that applies to a target"
            raise SuiteError(Problem("suite.empty", message))


def _undecidable(head: PlanHead, terms: Terms) -> Iterator[Problem]:
    """Yield what keeps a run from stopping once it is decided."""
    if not terms.until_decided:
        return
    compared = [suite for suite in head.suites if suite.compared]
    if not compared:
        message = "--runs until-decided needs two arms to compare, and nothing here is run in two"
        yield Problem("usage.until-decided", message, hint="Leave out --no-baseline, or give a number: --runs N.")
    for suite in compared:
        if suite.case_count == 1:
            message = f"--runs until-decided: suite {suite.id!r} has one case, which tells nothing of a skill"
            hint = "Add or select further cases, or give a number: --runs N."
            yield Problem("usage.until-decided", message, hint=hint)


def _nothing_selected(suites: Suites) -> EmptySelection:
    have = sorted({target.id for target in suites.targets})
    message = f"the selection matches no case (targets here: {', '.join(have[:10]) or 'none'})"
    hint = "Run with --list and without --case, -k, --tag and --target to see what there is."
    return EmptySelection(Problem("usage.nothing-selected", message, hint=hint))
