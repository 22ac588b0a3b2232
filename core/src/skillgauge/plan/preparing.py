"""From what a user asks for to a plan and the job that carries it out.

Nothing runs before every problem of every file, plugin and option is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from skillgauge_documents.immutables import immutable

from ..errors import EmptySelection, Problem, Severity, SkillgaugeError, SuiteError, errors_among
from ..plugins.registry import Registry
from ..stats import MOST_REPEATS
from ..types.plan import Plan, Selection
from ..types.suite import Limits
from ..types.trial import PlanHead
from .cast import Cast, find_cast
from .checks.secrets import find_secrets
from .options import EvalOptions
from .planning import Terms, make_plan
from .suites import Suites, load_suites
from .survey import Survey, survey

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


async def prepare(options: EvalOptions, registry: Registry) -> Prepared:
    """Find and check everything that a run needs.

    Raises:
        SkillgaugeError: with every problem that was found; nothing has run.
    """
    suites = load_suites(options.what, options.cwd, registry)
    surveys = [survey(suite, options.what.selection) for suite in suites.suites]
    cast = await find_cast(options, suites, surveys, registry)
    terms = Terms(
        runs=options.how.runs,
        detect=options.how.detect,
        until_decided=options.how.until_decided,
        seed=options.how.seed,
        limits=Limits(timeout_s=options.how.timeout_s, max_turns=options.how.max_turns),
        judges=tuple(one.identity for one in cast.judging.found),
        paid_scorers=cast.paid_scorers,
        provenance=cast.provenance,
    )
    plan = make_plan(cast.suites, surveys, terms)
    unfit = [*_undetectable(suites, surveys, terms), *_undecidable(plan.head, terms)]
    _require_work(plan, suites, [*cast.problems, *unfit], options)
    login_files = cast.engines.login_files()
    redactor, short = find_secrets(suites.suites, cast.passed, login_files, options.who.store, registry)
    failures = [replace(one, severity=Severity.WARNING) for one in registry.failures.values()]
    warnings = (*suites.warnings, *cast.problems, *failures, *short)

    def job() -> Job:
        from .job import make_job  # noqa: PLC0415 - all that carries a plan out; few commands do

        return make_job(options, suites, cast, registry, redactor)

    return Prepared(plan, cast, suites, warnings, job)


def _undetectable(suites: Suites, surveys: Sequence[Survey], terms: Terms) -> Iterator[Problem]:
    for suite, surveyed in zip(suites.suites, surveys, strict=True):
        if terms.repeats(suite, surveyed.selected) is None:
            points = f"{(terms.detect or 0) * 100:.0f} points"
            message = f"suite {suite.id!r} has too few cases to show a lift of {points}, even with {MOST_REPEATS} runs"
            word = "until-decided" if terms.until_decided else "auto"
            hint = f"Add cases, or ask for more points: --runs {word}:POINTS."
            yield Problem("usage.detect", message, hint=hint)


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


def _require_work(plan: Plan, suites: Suites, problems: Sequence[Problem], options: EvalOptions) -> None:
    """Raise unless there is something to run and nothing against it."""
    errors = errors_among([*suites.warnings, *problems])
    if errors:
        raise SuiteError([*errors, *suites.passed_over])
    if options.who.executes and not plan.head.trial_count:
        _refuse_emptiness(suites, options.what.selection)


def _refuse_emptiness(suites: Suites, selection: Selection) -> None:
    """Raise unless it is no mistake that there is nothing to run."""
    SuiteError.raise_for(suites.passed_over)
    if selection.is_given or not any(suite.may_be_empty for suite in suites.suites):
        raise _nothing_selected(suites, selection)


def _nothing_selected(suites: Suites, selection: Selection) -> SkillgaugeError:
    if not selection.is_given:
        message = "there is nothing to run: no suite has a case that applies to a target"
        return SuiteError(Problem("suite.empty", message))
    have = sorted({target.id for target in suites.targets})
    message = f"the selection matches no case (targets here: {', '.join(have[:10]) or 'none'})"
    hint = "Run with --list and without --case, -k, --tag and --target to see what there is."
    return EmptySelection(Problem("usage.nothing-selected", message, hint=hint))
