"""Prepare a run: what of the command has no effect, which cases are in quarantine, and the same in another process.

`quarantine:` of the configuration names flaky cases that gate nothing until a date. They run, count in every rate and
are named in every report; only gates are answered without them. From the date on they gate again, and that is said.

An executor whose workers are other processes gets a recipe with the run (`PortableRunTrial.recipe`) and gives
it to each of them. A worker prepares what the command line has prepared, and makes attempts of trials that are handed
to it; it keeps no results, tells no extension of events and writes no report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from pydantic import ValidationError

from skillgauge_documents.frozen import Frozen
from skillgauge_documents.immutables import immutable

from ..config.configuration import Config
from ..config.trusting import leading_out, takes_part
from ..errors import Origin, Problem, Severity, SkillgaugeError, UsageError, errors_among
from ..plan.options import PAIRED, EvalOptions
from ..plan.preparing import Prepared, prepare
from ..plugins.kinds import ENGINES
from ..types.gate import Quarantined
from ..types.results.runs import Kept, ResultOrder, RunView
from ..types.results.trials import TrialResult
from ..types.suite import Case
from ..types.trial import SuiteHead
from .added_checks import unknown_key
from .invocation import Invocation, configured_list, configured_words
from .remarks import said_if

if TYPE_CHECKING:
    from ..report.summary import FigureSource
    from ..run.pipeline import Job


async def prepare_run(call: Invocation, options: EvalOptions) -> Prepared:
    """Prepare what will run: under the rules of the quarantine, and with what executors elsewhere need.

    Raises:
        SkillgaugeError: as `prepare_trusted`.
    """
    prepared = quarantined(await prepare_trusted(call, options), call.config)
    if not options.who.executor:
        return prepared
    from .elsewhere.files import files_of  # noqa: PLC0415 - builds three validators; most runs stay in this process
    from .elsewhere.recipes import recipe_of  # noqa: PLC0415 - as above

    def elsewhere(job: Job) -> Job:
        parts = options, prepared, call.plugins, call.registry
        return replace(job, recipe=recipe_of(*parts), files=partial(files_of, *parts))

    return prepared.with_job(elsewhere)


async def prepare_trusted(call: Invocation, options: EvalOptions) -> Prepared:
    """Prepare, and tell what the folder's configuration asks for and does not get. What the run stores is signed.

    Raises:
        SkillgaugeError: as `prepare`; or who takes part would be others, or set otherwise, if the file were trusted.
    """
    if options.how.untrusted and (out := leading_out(call.config, call.cwd)):
        raise UsageError(out)
    try:
        prepared = await prepare(options, call.registry)
    except SkillgaugeError as error:
        error.problems += tuple(call.held_back())
        raise
    ask = not (options.how.dry_run or options.how.untrusted)
    held = call.held_back(lambda one: ask and takes_part(one, prepared, call.registry))
    if errors_among(held):
        raise UsageError(held)
    call.listener.problems((*held, *_unused(call, options, prepared)))
    return prepared.with_job(lambda job: replace(job, store=call.signing(job.store)))


def _unused(call: Invocation, options: EvalOptions, prepared: Prepared) -> Iterator[Problem]:
    """Report settings of agents on a command line where no agent takes part.

    Raises:
        PluginError: it names an engine that is not installed.
    """
    configured = configured_words(call.config, "engine")
    named = [name for name in options.who.engines if name not in configured]
    for name in named:
        call.registry.resolve(ENGINES, name.partition(PAIRED)[0])
    flag = said_if(named, "--engine") or said_if(options.who.replay, "--replay")
    if flag and not prepared.has_agents:
        message = f"{flag} has no effect: what is evaluated here is called directly"
        yield Problem("usage.unused", message, hint="Leave it out.", severity=Severity.WARNING)


class QuarantineRule(Frozen):
    """A rule that puts cases into quarantine until a date."""

    case: str
    """Glob pattern of ids or names."""
    until: date
    """The day from which they gate again."""
    reason: str = ""
    suite: str | None = None
    """Only cases of this suite."""

    def fits(self, suite: str, case: Case) -> bool:
        """Tell whether the rule is about a case."""
        return self.suite in (None, suite) and any(fnmatchcase(name, self.case) for name in (case.id, case.name))


@immutable
class Quarantine:
    """The rules in force, each with its place."""

    rules: tuple[tuple[QuarantineRule, Origin], ...] = ()

    def over(self, prepared: Prepared, today: date) -> Prepared:
        """The same plan, in which each suite tells which of its cases are in quarantine.

        Rules that are over and rules that fit nothing become warnings.
        """
        if not self.rules:
            return prepared
        by_suite: dict[str, dict[str, Quarantined]] = {}
        used: set[Origin] = set()
        for suite in prepared.plan.suites:
            for _, case in suite.cases():
                for rule, origin in self.rules:
                    if rule.fits(suite.suite.id, case):
                        used.add(origin)
                        if rule.until > today:
                            entry = Quarantined(case=case.id, until=rule.until.isoformat(), reason=rule.reason)
                            by_suite.setdefault(suite.suite.id, {}).setdefault(case.id, entry)
        head = prepared.plan.head
        suites = tuple(_marked(suite, by_suite.get(suite.id, {})) for suite in head.suites)
        plan = replace(prepared.plan, head=head.model_copy(update={"suites": suites}))
        return replace(prepared, plan=plan, warnings=(*prepared.warnings, *self._remarks(used, today)))

    def _remarks(self, used: set[Origin], today: date) -> Iterator[Problem]:
        for rule, origin in self.rules:
            if origin not in used:
                message = f"quarantine of {rule.case!r} matches no case"
                hint = "Correct its case or suite, or remove it."
                yield Problem("config.unused-quarantine", message, origin=origin, hint=hint, severity=Severity.WARNING)
            elif rule.until <= today:
                message = f"the quarantine of {rule.case!r} ended on {rule.until}: it gates again"
                hint = "Fix the case and remove the entry, or give it another date."
                yield Problem("config.quarantine-over", message, origin=origin, hint=hint, severity=Severity.WARNING)


def _marked(suite: SuiteHead, cases: Mapping[str, Quarantined]) -> SuiteHead:
    if cases:
        return suite.model_copy(update={"quarantined": tuple(cases.values())})
    return suite


def quarantined(prepared: Prepared, config: Config) -> Prepared:
    """Apply the configuration's rules to a prepared evaluation, as they are today.

    Raises:
        UsageError: with everything that is wrong with them.
    """
    return read_quarantine(*configured_list(config, "quarantine")).over(prepared, date.today())


def read_quarantine(configured: Sequence[Mapping[str, object]], file: str) -> Quarantine:
    """The rules of the configuration.

    Args:
        configured: the value of `quarantine`.
        file: where that was set.

    Raises:
        UsageError: with all problems.
    """
    problems: list[Problem] = []
    rules = []
    for index, value in enumerate(configured):
        origin = Origin(file, ("quarantine", index))
        try:
            rules.append((QuarantineRule.model_validate(value), origin))
        except ValidationError as error:
            problems += [_problem(str(one["loc"][0]), one["type"], origin) for one in error.errors(include_url=False)]
    UsageError.raise_for(problems)
    return Quarantine(tuple(rules))


def _problem(key: str, fault: str, rule: Origin) -> Problem:
    """Make a problem of one fault that pydantic found."""
    if fault == "missing":
        return Problem("config.missing-key", f"{key!r} is missing", origin=rule, hint=_HINTS.get(key))
    origin = Origin(rule.file, (*rule.pointer, key))
    if fault == "extra_forbidden":
        return unknown_key("config.unknown-key", key, QuarantineRule, origin)
    return Problem("config.wrong-type", f"{key!r} must be {_WANTED.get(key, 'text')}", origin=origin)


_HINTS = {"until": "A quarantine without a date would never end: until: 2027-01-31"}
_WANTED = {"until": "a date such as 2027-01-31"}


def gating(view: RunView, figures: FigureSource) -> RunView:
    """Return the run without its cases in quarantine, which gate nothing.

    Args:
        view: the run. Blocks if there are any; call it from a worker thread.
        figures: the formats' own numbers.
    """
    from ..report.summary import summarize  # noqa: PLC0415 - only for a run that has ended

    apart = {(suite.id, one.case) for suite in view.head.suites for one in suite.quarantined}
    if not apart:
        return view

    def others() -> Iterator[TrialResult]:
        found = view.source.results(ResultOrder.CASE)
        return (one for one in found if (one.suite_id, one.case_id) not in apart)

    return RunView(view.run, view.head, summarize(view.head, others(), figures=figures), Kept(others, view.cases()))
