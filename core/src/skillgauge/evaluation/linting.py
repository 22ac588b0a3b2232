"""Lints: what makes a suite prove less than its author thinks, as installed packages find it.

The core knows none of them. A package announces a tuple of `Lint`s by an entry point of the group `skillgauge.lints`,
`validate` asks each about every suite that was loaded, and the user decides what each one weighs. A document of
problems for other programs is made by a package, too: its entry point in the group `skillgauge.problem_reporters`
names a `ProblemReporter`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillgauge_documents import Change, changed_texts, differences
from skillgauge_documents.immutables import immutable

from ..config.documents import located_all
from ..contract.providers import imported
from ..errors import Origin, PluginError, Problem, Severity, SourceSpan, UsageError, did_you_mean
from ..plugins.index import IndexEntry, PluginIndex, install_hint
from ..types.results.runs import RunView
from ..types.suite import Suite

GROUP = "lints"
"""Group of entry points, behind the common prefix."""
PROBLEM_REPORTERS = "problem_reporters"
"""The group of those who make documents of problems."""
PREFIX = "lint."
_OF_SUITES = (PREFIX, "suite.", "document.")
OFF = "off"
LEVELS: Mapping[str, Severity | None] = {OFF: None, **{one.value: one for one in Severity}}
"""What a user may make of a lint."""


@immutable
class Fix:
    """A change of one text in the file of a finding: the first place at or after the finding where it stands."""

    before: str
    after: str


@immutable
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


@immutable
class LintSubject:
    """The subject of a lint."""

    suite: Suite
    runs: Sequence[RunView] = ()
    """Finished runs of the suite that are stored here, the newest first; a few."""


@immutable
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


ProblemReporter = Callable[[Sequence[Problem], Sequence[Lint], Path], Mapping[str, object]]
"""Makes a JSON document of problems with their places, the lints that looked, and the folder that the user is in."""


@dataclass(frozen=True, slots=True)
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
    """Return the level that `ID=LEVEL` sets, by the code of its problems.

    A word with a dot is the code of any warning, so that those of formats can be switched, too.

    Raises:
        UsageError: with all that are no such pairs, or name no lint.
    """
    codes, levels, problems = {one.id: one.code for one in lints}, {}, []
    for word in words:
        name, _, level = word.partition("=")
        code = codes.get(name)
        if "." in name:
            code = name
        if level not in LEVELS:
            hint = f"Write ID=LEVEL; a level is one of {', '.join(LEVELS)}."
            problems.append(Problem("lint.level", f"{where}: {word!r} gives no level", hint=hint))
        elif code is None:
            message = f"{where}: no lint is called {name!r}{did_you_mean(name, tuple(codes))}"
            problems.append(Problem("lint.unknown", message, hint=f"Known: {', '.join(codes)}."))
        else:
            levels[code] = LEVELS[level]
    UsageError.raise_for(problems)
    return levels


def levelled(problems: Iterable[Problem], levels: Mapping[str, Severity | None], *, strict: bool) -> list[Problem]:
    """Warnings as the user weighs them; errors stay what they are.

    Args:
        problems: what was found.
        levels: by code; `None` is off.
        strict: whether what is left of warnings about suites and skills are errors. What is missing here, an engine or
            a judge, is no fault of theirs.
    """
    weighed = ((one, _weighed(one, levels, strict=strict)) for one in problems)
    return [replace(one, severity=severity) for one, severity in weighed if severity is not None]


def _weighed(problem: Problem, levels: Mapping[str, Severity | None], *, strict: bool) -> Severity | None:
    if problem.severity is Severity.ERROR:
        return Severity.ERROR
    if problem.code in levels:
        return levels[problem.code]
    if strict and problem.code.startswith(_OF_SUITES):
        return Severity.ERROR
    return Severity.WARNING


def lint_suites(lints: Sequence[Lint], subjects: Iterable[LintSubject]) -> Iterator[Linted]:
    """Return the findings of the lints, each place once however many suites share it."""
    reported: set[Problem] = set()
    for subject in subjects:
        for lint in lints:
            for finding in _findings(lint, subject):
                if finding.problem not in reported:
                    reported.add(finding.problem)
                    yield finding


def _findings(lint: Lint, subject: LintSubject) -> Iterator[Linted]:
    code = lint.code
    try:
        for finding in lint.find(subject):
            place = finding.origin
            if not (finding.origin or finding.span):
                place = subject.suite.origin
            problem = Problem(code, finding.message, place, finding.span, finding.hint or lint.hint, lint.severity)
            yield Linted(problem, finding.fix)
    except Exception as error:  # noqa: BLE001 - isolation point: the other lints are still wanted
        message = f"lint {lint.id!r} failed at suite {subject.suite.id!r}: {type(error).__name__}: {error}"
        hint = f"Report it to whoever made it; until then: --lint {lint.id}=off."
        yield Linted(Problem("plugin.broken", message, hint=hint, severity=Severity.WARNING))


def fixed(
    found: Sequence[Linted], levels: Mapping[str, Severity | None], *, writes: bool
) -> tuple[list[Linted], list[str]]:
    """Make the mechanical changes of what counts.

    Args:
        found: what lints found.
        levels: by code; what is off stays as it is.
        writes: whether files are changed; else the diff is all that comes of it.

    Returns:
        What is left to do, and the diff.
    """
    places = located_all([linted.problem for linted in found])
    located = [replace(linted, problem=place) for linted, place in zip(found, places, strict=True)]
    changes: list[Change] = []
    left: list[Linted] = []
    for linted in located:
        if change := _change(linted, levels):
            changes.append(change)
        else:
            left.append(linted)
    files = changed_texts(changes)
    if not writes:
        return located, list(differences(files))
    write(files)
    return left, list(differences(files))


def _change(linted: Linted, levels: Mapping[str, Severity | None]) -> Change | None:
    """Return what a program can change for a finding; `None` if it can do nothing, or nobody wants it."""
    fix, span = linted.fix, linted.problem.span
    if fix is None or span is None or levels.get(linted.problem.code, Severity.WARNING) is None:
        return None
    return Change(span.file, span.line or 1, span.column or 1, fix.before, fix.after)


def write(files: dict[Path, tuple[str, str]]) -> None:
    """Write all of them.

    Raises:
        UsageError: one cannot be written; the others are.
    """
    problems = []
    for path, (_, after) in files.items():
        try:
            path.write_bytes(after.encode("utf-8"))
        except OSError as error:
            problems.append(Problem("usage.unwritable", f"cannot write {str(path)!r}: {error.strerror}"))
    UsageError.raise_for(problems)


def problem_reporter(index: PluginIndex, name: str, admits: Callable[[IndexEntry], bool]) -> IndexEntry:
    """Return the entry of a reporter of problems.

    Args:
        index: what is installed.
        name: as the user types it.
        admits: whether the user does not do without a package.

    Raises:
        PluginError: none has that name, or several have it.
    """
    entries = list(filter(admits, index.find(PROBLEM_REPORTERS, name)))
    if len(entries) == 1:
        return entries[0]
    if entries:
        names = " or ".join(entry.full_name for entry in entries)
        message = f"several packages print problems as {name!r}"
        raise PluginError(Problem("plugin.ambiguous", message, hint=f"Name one of them: {names}."))
    near = did_you_mean(name, [entry.name for entry in filter(admits, index.entries(PROBLEM_REPORTERS))])
    message = f"no installed package prints problems as {name!r}{near}"
    raise PluginError(Problem("plugin.not-installed", message, hint=install_hint(PROBLEM_REPORTERS, name)))


def render_problems(
    entry: IndexEntry, problems: Iterable[Problem], lints: Sequence[Lint], cwd: Path
) -> Mapping[str, object]:
    """Return the document that a reporter makes of problems.

    Raises:
        PluginError: it cannot be loaded, or fails.
    """
    located = located_all(problems)
    try:
        reporter: ProblemReporter = imported(entry.module)
        return reporter(located, lints, cwd)
    except Exception as error:
        message = f"problem reporter {entry.name!r} of {entry.distribution} {entry.version} failed"
        reason = f"{message}: {type(error).__name__}: {error}"
        raise PluginError(Problem("plugin.broken", reason, hint="skillgauge plugins doctor")) from error
