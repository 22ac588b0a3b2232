"""Further checks on the cases of any suite: how a private scorer reaches a suite whose file does not name it.

They come from `checks:` in the configuration and from `--check`. They are part of how a case is graded, never of
what is executed. A table of each group shows the user that they were asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from skillgauge_documents import DocumentError, parse
from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject
from skillgauge_documents.immutables import immutable

from ..config.configuration import Held
from ..errors import Origin, PluginError, Problem, Severity, UsageError, did_you_mean
from ..plan.options import Revision
from ..plugins.collecting import at
from ..plugins.kinds import SCORERS
from ..plugins.registry import Registry
from ..types.arms import GroupKey
from ..types.results.runs import RunView
from ..types.score import ScoreStatus
from ..types.suite import Case, Check, Suite
from .remarks import said_if, with_remarks

if TYPE_CHECKING:
    from ..types.results.summaries import Table


class OverlayCheck(Frozen):
    """A check that is added to every case that it fits."""

    scorer: str
    options: JsonObject = EMPTY
    format: str | None = None
    """Only suites of this format."""
    case: str | None = None
    """Only cases whose id or name matches this glob pattern."""
    tag: str | None = None
    """Only cases with this tag."""
    beside: bool = False
    """Whether it stands beside the verdict; see `Check.beside`."""

    def fits(self, case: Case) -> bool:
        """Tell whether a case gets the check; the suite's format was compared before."""
        if self.case is not None and not any(fnmatchcase(name, self.case) for name in (case.id, case.name)):
            return False
        return self.tag is None or self.tag in case.tags


_Added = tuple[str, OverlayCheck, Origin | None]


@immutable
class Overlay:
    """Checks to add, each with the name it has in results and its place."""

    checks: tuple[_Added, ...] = ()

    def __call__(self, suites: tuple[Suite, ...]) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
        """The suites with the checks added, and what of these is of no use; see `What.revise`."""
        return tuple(map(self.over, suites)), tuple(self.unused(suites))

    def over(self, suite: Suite) -> Suite:
        """The suite with the checks added."""
        fitting = tuple(one for one in self.checks if _is_for(suite, one))
        if fitting:
            return suite.model_copy(update={"cases": _Cases(suite.cases, fitting)})
        return suite

    def unused(self, suites: Iterable[Suite]) -> list[Problem]:
        """A warning for each check that no case of these suites gets."""
        remaining = list(self.checks)
        for suite in suites:
            unused = _unused_in(suite, remaining)
            remaining = [added for added in remaining if added in unused or not _is_for(suite, added)]
        hint, warn = "Correct its format, case or tag, or take it out.", Severity.WARNING
        return [
            Problem("config.unused-check", f"check {name!r} matches no case", origin=origin, hint=hint, severity=warn)
            for name, _, origin in remaining
        ]


def overlay_of(revise: Revision) -> Overlay:
    """The checks that a revision adds to suites; none, if it is another one."""
    if isinstance(revise, Overlay):
        return revise
    return Overlay()


def _is_for(suite: Suite, added: _Added) -> bool:
    return added[1].format in (None, suite.format)


def _unused_in(suite: Suite, checks: Iterable[_Added]) -> list[_Added]:
    """Return the checks for a suite that none of its cases gets; cases are read until every check has one."""
    unused = [added for added in checks if _is_for(suite, added)]
    if not unused:
        return []
    for case in suite.cases:
        unused = [added for added in unused if not added[1].fits(case)]
        if not unused:
            break
    return unused


class _Cases:
    """The cases of a suite with further checks, made anew at each iteration."""

    def __init__(self, cases: Iterable[Case], added: Sequence[_Added]) -> None:
        self._cases = cases
        self._added = added

    def __iter__(self) -> Iterator[Case]:
        for case in self._cases:
            more = tuple(
                Check(id=name, scorer=check.scorer, options=check.options, beside=check.beside, origin=origin)
                for name, check, origin in self._added
                if check.fits(case)
            )
            if more:
                case = case.model_copy(update={"checks": (*case.checks, *more)})
            yield case


def read_overlay(configured: Sequence[Mapping[str, object]], file: str, arguments: Sequence[str]) -> Overlay:
    """The overlay of a run.

    Args:
        configured: the value of `checks` in the configuration.
        file: where that was set, for problems.
        arguments: the words of `--check`, each a scorer's name or `NAME=JSON`, where the JSON object holds its options.

    Raises:
        UsageError: with all problems.
    """
    problems: list[Problem] = []
    checks: list[_Added] = []
    for index, value in enumerate(configured):
        origin = Origin(file, ("checks", index))
        try:
            check = OverlayCheck.model_validate(value)
        except ValidationError as error:
            problems += [_problem(detail, origin) for detail in error.errors(include_url=False)]
        else:
            checks.append((f"checks[{index}] {check.scorer}", check, origin))
    for word in arguments:
        name, equals, text = word.partition("=")
        try:
            options: object = {}
            if equals:
                options = parse(text, "json")
            option = f"--check {name}"  # names the option in place of a file, so that no suite is blamed for it
            checks.append((option, OverlayCheck.model_validate({"scorer": name, "options": options}), Origin(option)))
        except DocumentError as error:
            fault = error.faults[0]
            message = f"--check {word!r}: no JSON after '=': {fault.message}, at its character {fault.column}"
            problems.append(Problem("usage.check", message, hint=fault.hint))
        except ValidationError:
            hint = f"Write --check {name or 'NAME'}='{{\"key\": value}}', or --check NAME alone."
            problems.append(Problem("usage.check", f"--check {word!r} has no JSON object after '='", hint=hint))
    UsageError.raise_for(problems)
    return Overlay(tuple(checks))


def faults(held: Held, registry: Registry) -> list[Problem]:
    """Return the faults of checks that wait for the user's trust, so that no file is trusted only to be mended."""
    try:
        overlay = read_overlay(held.value, held.file, ())
    except UsageError as error:
        return list(error.problems)
    found: list[Problem] = []
    for index, (_, check, _) in enumerate(overlay.checks):
        place, options = (Origin(held.file, (*held.pointer, index, key)) for key in ("scorer", "options"))
        try:
            registry.validated_options(registry.resolve(SCORERS, check.scorer), check.options, options)
        except PluginError as error:
            # What the check itself does not say may stand elsewhere in the file, and counts once that is trusted.
            said = (problem for problem in error.problems if problem.origin != options)
            found += (at(problem, place) for problem in said)
    return found


def _problem(detail: ErrorDetails, check: Origin) -> Problem:
    """Make a problem of one fault that pydantic found in a check of the configuration."""
    key, *_ = detail["loc"]
    name, origin = str(key), Origin(check.file, (*check.pointer, key))
    if detail["type"] == "missing":
        return Problem("suite.missing-key", f"{name!r} is missing", origin=check)
    if detail["type"] == "extra_forbidden":
        return unknown_key("suite.unknown-key", name, OverlayCheck, origin)
    wanted, found = _WANTED.get(name, "text"), json.dumps(detail["input"], default=str)
    return Problem("suite.wrong-type", f"{name!r} must be {wanted}, not {found}", origin=origin)


_WANTED = {"options": "an object"}


def unknown_key(code: str, key: str, model: type[Frozen], origin: Origin) -> Problem:
    """Make the problem of a key in the configuration that a model does not have."""
    known = tuple(model.model_fields)
    near = did_you_mean(key, known)
    hint = said_if(not near, f"Use one of {', '.join(known)}.") or None
    return Problem(code, f"unknown key {key!r}{near}", origin=origin, hint=hint)


ADDED = "added_checks"
_WORDS = {ScoreStatus.PASSED: "passed", ScoreStatus.FAILED: "failed", ScoreStatus.UNGRADED: "ungraded"}


def with_added(view: RunView, overlay: Overlay) -> RunView:
    """The run with a table for each group in which a check was added; its results are read only if one was."""
    names = tuple(dict.fromkeys(name for name, _, _ in overlay.checks))
    if not names:
        return view
    counted: dict[GroupKey, dict[str, Counter[ScoreStatus]]] = {}
    for result in view.results():
        for score in result.scores:
            if score.check_id in names:
                counted.setdefault(result.group, {}).setdefault(score.check_id, Counter())[score.status] += 1
    return with_remarks(view, {group: [_table(names, counts)] for group, counts in counted.items()})


def _table(names: Iterable[str], counted: dict[str, Counter[ScoreStatus]]) -> Table:
    from ..types.results.summaries import Table  # noqa: PLC0415 - with all evidence, which no plan needs

    shown = [one for one in ScoreStatus if one is not ScoreStatus.UNGRADED or any(c[one] for c in counted.values())]
    rows: tuple[tuple[str | int, ...], ...] = tuple(
        (name, *(counted[name][one] for one in shown)) for name in names if name in counted
    )
    return Table(name=ADDED, label="Added checks", heads=("check", *(_WORDS[one] for one in shown)), rows=rows)
