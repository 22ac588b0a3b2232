"""Further checks on the cases of any suite: how a private scorer reaches a suite whose file does not name it.

They come from `checks:` in the configuration and from `--check`. They are part of how a case is graded, never of
what is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from ..errors import Origin, Problem, Severity
from ..types.suite import Case, Check, Suite


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
        """Whether a case gets it; the suite's format is asked for before."""
        if self.case is not None and not any(fnmatchcase(name, self.case) for name in (case.id, case.name)):
            return False
        return self.tag is None or self.tag in case.tags


_Added = tuple[str, OverlayCheck, Origin | None]
"""The name of a check in results, the check, and its place."""


@dataclass(frozen=True)
class Overlay:
    """Checks to add, each with the name it has in results and its place."""

    checks: tuple[_Added, ...] = ()

    def __call__(self, suites: tuple[Suite, ...]) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
        """The suites with the checks added, and what of these is of no use; see `What.revise`."""
        return tuple(map(self.over, suites)), tuple(self.unused(suites))

    def over(self, suite: Suite) -> Suite:
        """The suite with the checks added."""
        fitting = tuple(added for added in self.checks if added[1].format in (None, suite.format))
        if not fitting:
            return suite
        return suite.model_copy(update={"cases": _Cases(suite.cases, fitting)})

    def unused(self, suites: Iterable[Suite]) -> list[Problem]:
        """A warning for each check that no case of these suites gets."""
        left = list(self.checks)
        for suite in suites:
            used = _used([added for added in left if added[1].format in (None, suite.format)], suite)
            left = [added for added in left if added not in used]
        hint, warn = "Correct its format, case or tag, or take it out.", Severity.WARNING
        return [
            Problem("config.unused-check", f"check {name!r} matches no case", origin=origin, hint=hint, severity=warn)
            for name, _, origin in left
        ]


def _used(added: Sequence[_Added], suite: Suite) -> list[_Added]:
    """Return those of the added checks that a case of a suite gets; its cases are read until all have one."""
    used: list[_Added] = []
    waiting = list(added)
    cases = iter(suite.cases if waiting else ())
    while waiting and (case := next(cases, None)) is not None:
        used += [check for check in waiting if check[1].fits(case)]
        waiting = [check for check in waiting if check not in used]
    return used


class _Cases:
    """The cases of a suite with further checks, made anew at each iteration."""

    def __init__(self, cases: Iterable[Case], added: Sequence[_Added]) -> None:
        self._cases = cases
        self._added = added

    def __iter__(self) -> Iterator[Case]:
        for case in self._cases:
            checks = tuple(_check(*added) for added in self._added if added[1].fits(case))
            yield case.model_copy(update={"checks": (*case.checks, *checks)}) if checks else case


def _check(name: str, overlay: OverlayCheck, origin: Origin | None) -> Check:
    return Check(id=name, scorer=overlay.scorer, options=overlay.options, beside=overlay.beside, origin=origin)
