"""Flaky cases in quarantine: `quarantine:` of the configuration names cases that gate nothing until a date.

They run, count in every rate and are told aloud in every report; only gates are answered without them. Nobody forgets
them: from the date on they gate again, and that is said, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase

from pydantic import ValidationError

from skillgauge_documents.frozen import Frozen

from ..config.configuration import Config
from ..errors import Origin, Problem, Severity, UsageError, did_you_mean
from ..plan.preparing import Prepared
from ..report.summary import FigureSource, summarize
from ..types.gate import Quarantined
from ..types.result import Kept, ResultOrder, RunView, TrialResult
from ..types.suite import Case
from ..types.trial import SuiteHead


class QuarantineRule(Frozen):
    """Which cases are in quarantine, and until when."""

    case: str
    """Glob pattern of ids or names."""
    until: date
    """The day from which they gate again."""
    reason: str = ""
    suite: str | None = None
    """Only cases of this suite."""

    def fits(self, suite: str, case: Case) -> bool:
        """Whether a case is meant."""
        return self.suite in (None, suite) and any(fnmatchcase(name, self.case) for name in (case.id, case.name))


@dataclass(frozen=True)
class Quarantine:
    """The rules in force, each with its place."""

    rules: tuple[tuple[QuarantineRule, Origin], ...] = ()

    def over(self, prepared: Prepared, today: date) -> Prepared:
        """The same plan, in which each suite tells which of its cases are in quarantine.

        Rules that are over and rules that fit nothing become warnings.
        """
        if not self.rules:
            return prepared
        found: dict[str, dict[str, Quarantined]] = {}
        used: set[Origin] = set()
        for suite in prepared.plan.suites:
            for _, case in suite.cases():
                for rule, origin in self.rules:
                    if rule.fits(suite.suite.id, case):
                        used.add(origin)
                        if rule.until > today:
                            one = Quarantined(case=case.id, until=rule.until.isoformat(), reason=rule.reason)
                            found.setdefault(suite.suite.id, {}).setdefault(case.id, one)
        head = prepared.plan.head
        suites = tuple(_marked(suite, found.get(suite.id, {})) for suite in head.suites)
        plan = replace(prepared.plan, head=head.model_copy(update={"suites": suites}))
        return replace(prepared, plan=plan, warnings=(*prepared.warnings, *self._remarks(used, today)))

    def _remarks(self, used: set[Origin], today: date) -> Iterator[Problem]:
        for rule, origin in self.rules:
            if origin not in used:
                message, hint = (
                    f"quarantine of {rule.case!r} matches no case",
                    "Correct its case or suite, or remove it.",
                )
                yield Problem("config.unused-quarantine", message, origin=origin, hint=hint, severity=Severity.WARNING)
            elif rule.until <= today:
                message = f"the quarantine of {rule.case!r} ended on {rule.until}: it gates again"
                hint = "Fix the case and remove the entry, or give it another date."
                yield Problem("config.quarantine-over", message, origin=origin, hint=hint, severity=Severity.WARNING)


def _marked(suite: SuiteHead, cases: Mapping[str, Quarantined]) -> SuiteHead:
    return suite.model_copy(update={"quarantined": tuple(cases.values())}) if cases else suite


def quarantined(prepared: Prepared, config: Config) -> Prepared:
    """What is prepared, under the rules of the configuration as they are today.

    Raises:
        UsageError: with everything that is wrong with them.
    """
    configured = config.find("quarantine")
    rules = read_quarantine(configured.value if configured else (), configured.where if configured else "")
    return rules.over(prepared, date.today())


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
    if problems:
        raise UsageError(problems)
    return Quarantine(tuple(rules))


def _problem(key: str, fault: str, rule: Origin) -> Problem:
    """What to say of one fault that pydantic found."""
    known = tuple(QuarantineRule.model_fields)
    if fault == "missing":
        hint = "A quarantine without a date would never end: until: 2027-01-31" if key == "until" else None
        return Problem("config.missing-key", f"{key!r} is missing", origin=rule, hint=hint)
    origin = Origin(rule.file, (*rule.pointer, key))
    if fault == "extra_forbidden":
        near = did_you_mean(key, known)
        hint = None if near else f"Use one of {', '.join(known)}."
        return Problem("config.unknown-key", f"unknown key {key!r}{near}", origin=origin, hint=hint)
    wanted = "a date such as 2027-01-31" if key == "until" else "text"
    return Problem("config.wrong-type", f"{key!r} must be {wanted}", origin=origin)


def gating(view: RunView, figures: FigureSource) -> RunView:
    """What gates are about: the run without its cases in quarantine.

    Args:
        view: the run. Blocks if there are any; call it from a worker thread.
        figures: the formats' own numbers.
    """
    apart = {(suite.id, one.case) for suite in view.head.suites for one in suite.quarantined}
    if not apart:
        return view

    def others() -> Iterator[TrialResult]:
        found = view.source.results(ResultOrder.CASE)
        return (one for one in found if (one.suite_id, one.case_id) not in apart)

    return RunView(view.run, view.head, summarize(view.head, others(), figures=figures), Kept(others, view.cases()))
