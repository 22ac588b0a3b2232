"""Load the suites of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge_documents import cut_texts, reading_once
from skillgauge_documents.immutables import immutable

from ..contract.formats import FormatWithHeadlines, SuiteFormat
from ..errors import PluginError, Problem, Severity, SourceSpan, SuiteError
from ..plugins.kinds import FORMATS, KINDS, SHAPES
from ..plugins.registry import Registry
from ..types.arms import GroupKey
from ..types.suite import Suite, Target
from ..types.trial import SuiteHead
from .discovery import Found, discover, load
from .options import What
from .same_arms import with_same_arms
from .without_judged import without_judged

if TYPE_CHECKING:
    from ..types.results.summaries import Figure, SuiteSummary

_SEPARATE = "Evaluate them in separate runs."


@immutable
class Suites:
    """The suites that were loaded, with their problems."""

    formats: Mapping[str, SuiteFormat]
    """Every installed format that works, by name; without a path for all to claim, those that were given one."""
    suites: tuple[Suite, ...]
    """As the user wants them: with the checks that he adds."""
    passed_over: tuple[Problem, ...]
    """Bad files that a search passed over; the run's exit code is 2 in the end."""
    warnings: tuple[Problem, ...] = ()
    """What the suites and their revision give notice of."""

    def has_headline(self, suite: SuiteHead) -> bool:
        """Tell whether the format of a suite has a figure in place of its pass rate."""
        suite_format = self.formats.get(suite.format)
        return isinstance(suite_format, FormatWithHeadlines) and suite_format.has_headline(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Return the figures that the format of a suite has of it; none if the format is not there."""
        suite_format = self.formats.get(summary.suite.format)
        return suite_format.figures(summary) if suite_format else {}

    @property
    def targets(self) -> list[Target]:
        """The targets of all suites; one that several suites have comes several times."""
        return [target for suite in self.suites for target in suite.targets]


def load_suites(subject: What, cwd: Path, registry: Registry) -> Suites:
    """Find and load everything that the user names.

    Raises:
        SkillgaugeError: with every problem of every path and file.
    """
    return _Loading(subject, cwd, registry).suites()


class _Loading:
    """What a user names, and the formats that are asked for it.

    Args:
        subject: what to load.
        cwd: folder that relative paths in options are relative to.
        registry: the run's plugins.

    Raises:
        PluginError: the format that the user names is not there, or none is.
    """

    def __init__(self, subject: What, cwd: Path, registry: Registry) -> None:
        self._subject = subject
        self._cwd = cwd
        self._registry = registry
        self._formats = self._asked()

    def _asked(self) -> dict[str, SuiteFormat]:
        subject, registry = self._subject, self._registry
        asked = registry.each(FORMATS, lambda one: bool(subject.paths) or one.name in subject.format_paths)
        formats = dict(asked)
        if subject.suite_format:
            formats[subject.suite_format] = registry.make(FORMATS, subject.suite_format)
        if not formats:
            hint = "Install one: docs/install.md says which there are."
            none = Problem("plugin.not-installed", "no suite format is installed, so nothing can be read", hint=hint)
            raise PluginError([none, *registry.failures.values()])
        return formats

    def suites(self) -> Suites:
        """Return the suites as the user wants them.

        Raises:
            SkillgaugeError: with every problem of every path and file.
        """
        subject = self._subject
        suites, passed_over = self._read()
        suites = _told_apart(suites)
        _require_one_of_each_name(suites)
        if subject.same:
            suites = with_same_arms(suites)
        revised, notices = subject.revise(suites)
        if subject.without_judged:
            revised = without_judged(revised, self._registry)
        warnings = tuple(problem for suite in suites for problem in suite.warnings)
        return Suites(self._formats, revised, passed_over, (*warnings, *_cut_texts(suites), *notices))

    def _read(self) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
        """Return the suites as they are written, and the bad files that a search passed over."""
        installed = {kind: self._registry.names(kind) for kind in KINDS}
        options = self._subject.format_options
        with reading_once():
            return load(self._claims(), self._formats, cwd=self._cwd, options=options, installed=installed)

    def _claims(self) -> dict[str, Found]:
        """Return which paths each format is to load."""
        subject, formats, shapes = self._subject, self._formats, self._registry.names(SHAPES)
        claims: dict[str, Found] = {}
        for name, paths in subject.format_paths.items():
            discover(paths, {name: formats[name]}, claims, shapes=shapes, forced=True)
        named = subject.suite_format
        if named:
            formats = {named: formats[named]}
        discover(subject.paths, formats, claims, shapes=shapes, forced=named is not None)
        return claims


def _told_apart(suites: tuple[Suite, ...]) -> tuple[Suite, ...]:
    """Add its format to the name of a suite, unless it is the first of the formats that have a suite of that name."""
    formats: dict[str, set[str]] = {}
    for suite in suites:
        formats.setdefault(suite.id, set()).add(suite.format)
    return tuple(suite if suite.format == min(formats[suite.id]) else _with_format(suite) for suite in suites)


def _with_format(suite: Suite) -> Suite:
    return suite.model_copy(update={key: f"{getattr(suite, key)}:{suite.format}" for key in ("id", "name")})


def _cut_texts(suites: Iterable[Suite]) -> Iterator[Problem]:
    """Warn of texts in cases that a comment cuts off; cases that are made one by one are made once, when they run."""
    cases = (case for suite in suites if isinstance(suite.cases, tuple) for case in suite.cases)
    parts = (part for case in cases for part in (case, *case.checks))
    for file, fault in cut_texts(part.origin for part in parts if part.origin):
        span = SourceSpan(file, fault.line, fault.column)
        yield Problem("suite.cut-text", fault.message, span=span, hint=fault.hint, severity=Severity.WARNING)


def _require_one_of_each_name(suites: tuple[Suite, ...]) -> None:
    places: dict[str, list[str]] = {}
    for suite in suites:
        places.setdefault(suite.id, []).append(suite.root)
    doubled = [
        Problem("suite.duplicate-id", f"several suites are called {name!r}: {', '.join(roots)}", hint=_SEPARATE)
        for name, roots in places.items()
        if len(roots) > 1
    ]
    SuiteError.raise_for(doubled)
