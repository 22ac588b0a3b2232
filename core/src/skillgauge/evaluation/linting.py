"""Lints: what makes a suite prove less than its author thinks, as installed packages find it.

The core knows none of them. A package announces a tuple of `Lint`s by an entry point of the group `skillgauge.lints`,
`validate` asks each about every suite that was loaded, and the user decides what each one weighs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import Origin, Problem, Severity, SourceSpan, UsageError, did_you_mean
from ..plugins.index import IndexEntry, PluginIndex
from ..types.result import RunView
from ..types.suite import Suite

GROUP = "lints"
"""Group of entry points, behind the common prefix."""
PREFIX = "lint."
_OF_SUITES = (PREFIX, "suite.", "document.")
OFF = "off"
LEVELS: Mapping[str, Severity | None] = {OFF: None, **{one.value: one for one in Severity}}
"""What a user may make of a lint."""


@dataclass(frozen=True)
class Fix:
    """A change of one text in the file of a finding: the first place at or after the finding where it stands."""

    before: str
    after: str


@dataclass(frozen=True)
class LintFinding:
    """One place that a lint has something against."""

    message: str
    """What is wrong there and why that matters, in a sentence."""
    origin: Origin | None = None
    span: SourceSpan | None = None
    """Where no pointer leads, in Markdown for example."""
    hint: str = ""
    """What to do; empty: what the lint says in general."""
    fix: Fix | None = None
    """What a program can change; only what nobody could want otherwise."""


@dataclass(frozen=True)
class LintSubject:
    """What a lint looks at."""

    suite: Suite
    runs: Sequence[RunView] = ()
    """Finished runs of the suite that are stored here, the newest first; a few."""


@dataclass(frozen=True)
class Lint:
    """One thing to look for."""

    id: str
    """Unique among all that are installed; users switch it by this name."""
    summary: str
    """What it finds, in a sentence."""
    hint: str
    """What to do about it, as a complete imperative sentence."""
    find: Callable[[LintSubject], Iterable[LintFinding]]
    """Starts no program, asks nobody, and may be called with any suite of any format."""
    severity: Severity = Severity.WARNING

    @property
    def code(self) -> str:
        """Its name among the codes of problems."""
        return f"{PREFIX}{self.id}"


@dataclass(frozen=True)
class Linted:
    """A finding that counts."""

    problem: Problem
    fix: Fix | None = None


def installed_lints(index: PluginIndex, problems: list[Problem], admits: Callable[[IndexEntry], bool]) -> list[Lint]:
    """Every lint that installed packages bring, by id.

    Args:
        index: what is installed.
        problems: takes what is wrong with one of the packages; the others count.
        admits: whether the user does not do without a package.
    """
    found: dict[str, Lint] = {}
    for entry in filter(admits, index.entries(GROUP)):
        try:
            lints = _loaded(entry)
        except Exception as error:  # noqa: BLE001 - isolation point: the lints of the other packages count
            problems.append(_broken(entry, f"cannot be loaded: {type(error).__name__}: {error}"))
            continue
        for lint in lints:
            if lint.id in found:
                problems.append(_broken(entry, f"bring a second lint {lint.id!r}; the first counts"))
            found.setdefault(lint.id, lint)
    return [found[name] for name in sorted(found)]


def _loaded(entry: IndexEntry) -> tuple[Lint, ...]:
    if entry.problem:
        raise TypeError(entry.problem)
    module, _, attribute = entry.module.partition(":")
    lints = getattr(importlib.import_module(module), attribute)
    if not isinstance(lints, tuple) or not all(isinstance(one, Lint) for one in lints):
        raise TypeError(f"{entry.module} is no tuple of lints")
    return lints


def _broken(entry: IndexEntry, how: str) -> Problem:
    message = f"lints {entry.name!r} of {entry.distribution} {entry.version} {how}"
    return Problem("plugin.broken", message, hint="skillgauge plugins doctor", severity=Severity.WARNING)


def read_levels(words: Iterable[str], lints: Sequence[Lint], where: str) -> dict[str, Severity | None]:
    """What `ID=LEVEL` says of each, by the code of its problems.

    A word with a dot is the code of any warning, so that those of formats can be switched, too.

    Raises:
        UsageError: with all that are no such pairs, or name no lint.
    """
    known, levels, problems = {one.id: one.code for one in lints}, {}, []
    for word in words:
        name, _, level = word.partition("=")
        code = name if "." in name else known.get(name)
        if level not in LEVELS:
            hint = f"Write ID=LEVEL; a level is one of {', '.join(LEVELS)}."
            problems.append(Problem("lint.level", f"{where}: {word!r} gives no level", hint=hint))
        elif code is None:
            message = f"{where}: no lint is called {name!r}{did_you_mean(name, tuple(known))}"
            problems.append(Problem("lint.unknown", message, hint=f"Known: {', '.join(known)}."))
        else:
            levels[code] = LEVELS[level]
    if problems:
        raise UsageError(problems)
    return levels


def levelled(problems: Iterable[Problem], levels: Mapping[str, Severity | None], *, strict: bool) -> list[Problem]:
    """Warnings as the user weighs them; errors stay what they are.

    Args:
        problems: what was found.
        levels: by code; `None` is off.
        strict: whether what is left of warnings about suites and skills are errors. What is missing here, an engine or
            a judge, is no fault of theirs.
    """
    weighed = [(one, _weighed(one, levels, strict=strict)) for one in problems]
    return [replace(one, severity=severity) for one, severity in weighed if severity is not None]


def _weighed(problem: Problem, levels: Mapping[str, Severity | None], *, strict: bool) -> Severity | None:
    if problem.severity is Severity.ERROR:
        return Severity.ERROR
    if problem.code in levels:
        return levels[problem.code]
    return Severity.ERROR if strict and problem.code.startswith(_OF_SUITES) else Severity.WARNING


def lint_suites(lints: Sequence[Lint], subjects: Iterable[LintSubject]) -> Iterator[Linted]:
    """What the lints find, each place once however many suites share it."""
    seen: set[tuple[object, ...]] = set()
    for subject in subjects:
        for lint in lints:
            for found in _found(lint, subject):
                problem = found.problem
                key = (problem.code, problem.origin, problem.span, problem.message)
                if key not in seen:
                    seen.add(key)
                    yield found


def _found(lint: Lint, subject: LintSubject) -> Iterator[Linted]:
    try:
        for one in lint.find(subject):
            place = one.origin if one.origin or one.span else subject.suite.origin
            problem = Problem(lint.code, one.message, place, one.span, one.hint or lint.hint, lint.severity)
            yield Linted(problem, one.fix)
    except Exception as error:  # noqa: BLE001 - isolation point: the other lints are still wanted
        message = f"lint {lint.id!r} failed at suite {subject.suite.id!r}: {type(error).__name__}: {error}"
        hint = f"Report it to whoever made it; until then: --lint {lint.id}=off."
        yield Linted(Problem("plugin.broken", message, hint=hint, severity=Severity.WARNING))
