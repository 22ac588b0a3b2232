"""Choose among the cases of what is evaluated: by globs, tags, words and changed files; and list what is chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from skillgauge_documents import Pointer, places
from skillgauge_documents.phrases import short_time

from ..config.arguments import words
from ..contract.formats import SuiteFormat
from ..errors import Origin, Problem, SkillgaugeError, UsageError, did_you_mean
from ..plan.options import EvalOptions, How
from ..plan.suites import load_suites
from ..plugins.installed import read_index
from ..plugins.registry import Registry
from ..types.plan import Selection
from ..types.results.trials import TrialResult, Verdict
from ..types.suite import Case
from ..types.trial import SuiteHead
from .remarks import said_if


class Choice(Selection):
    """The part of the suites that a command line selects."""

    keywords: tuple[str, ...] = ()
    """Expressions of `-k`, which all have to fit."""
    only: frozenset[str] | None = None
    """Keys of the only cases that take part, see `case_key`; `None` restricts nothing."""

    def admits(self, case: Case) -> bool:
        """Tell whether a case takes part."""
        if self.only is not None and case_key(case) not in self.only:
            return False
        return super().admits(case) and (not self.keywords or fits(self.keywords, case.id, case.name, *case.tags))

    @property
    def is_given(self) -> bool:
        """True if anything is selected at all."""
        return bool(self.keywords) or self.only is not None or super().is_given


def case_key(case: Case) -> str:
    """Return the key that tells a case from the others of all suites: its id, what it does, and how that is graded."""
    return f"{case.execution_digest} {case.checks_digest} {case.id}"


def is_failure(result: TrialResult, suite: SuiteHead) -> bool:
    """Tell whether a result is an error, or a failure of an arm that is not a mere baseline."""
    has_failed = result.verdict is Verdict.FAIL and not suite.is_baseline(result.arm)
    return has_failed or result.verdict is Verdict.ERROR


def choice(values: Mapping[str, Any], cases: tuple[str, ...]) -> Choice:
    """Return the choice that parsed options make, beside cases that are named by themselves.

    Raises:
        UsageError: an expression cannot be read.
    """
    keywords = tuple(values.get("keyword", ()))
    for expression in keywords:
        matcher(expression)
    return Choice(
        cases=(*words(values.get("case", ())), *cases),
        tags=words(values.get("tag", ())),
        targets=words(values.get("target", ())),
        keywords=keywords,
    )


Matches = Callable[[str], bool]
"""Tells whether a lower-case text fits an expression."""

_TOKEN = re.compile(r"""\s*(?:([()]|[^\s()"']+)|(["'])(.*?)\2)""", re.DOTALL)
_AFTER_A_WORD = ("and", "or", ")")


@cache
def matcher(expression: str) -> Matches:
    """Compile an expression: words that a text contains, whatever their case, with `and`, `or`, `not` and brackets.

    Raises:
        UsageError: it is no expression.
    """
    tokens = list(_tokens(expression))
    matches, rest = _either(tokens, expression)
    if rest:
        raise _wrong(expression, f"{rest[0][1]!r} is left over")
    return matches


def fits(expressions: Iterable[str], *texts: str) -> bool:
    """Tell whether texts, taken together, fit all of some expressions."""
    whole = "\n".join(texts).lower()
    return all(matcher(expression)(whole) for expression in expressions)


_Token = tuple[bool, str]
"""Whether it is quoted, and its text."""


def _tokens(expression: str) -> Iterable[_Token]:
    position, end = 0, len(expression.rstrip())
    while position < end:
        match = _TOKEN.match(expression, position)
        if match is None:
            raise _wrong(expression, "a quotation mark is never closed")
        word, mark, quoted = match.groups()
        yield mark is not None, word or quoted
        position = match.end()


def _either(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    left_side, rest = _both(tokens, whole)
    if _begins(rest, "or"):
        right, rest = _either(rest[1:], whole)
        return lambda text: left_side(text) or right(text), rest
    return left_side, rest


def _both(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    left_side, rest = _single(tokens, whole)
    if _begins(rest, "and"):
        right, rest = _both(rest[1:], whole)
        return lambda text: left_side(text) and right(text), rest
    return left_side, rest


def _single(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    if not tokens:
        raise _wrong(whole, "a word is missing at its end")
    (quoted, word), rest = tokens[0], tokens[1:]
    if _begins(tokens, "not"):
        matches, rest = _single(rest, whole)
        return lambda text: not matches(text), rest
    if _begins(tokens, "("):
        matches, rest = _either(rest, whole)
        if not _begins(rest, ")"):
            raise _wrong(whole, "a bracket is never closed")
        return matches, rest[1:]
    if not quoted and word in _AFTER_A_WORD:
        raise _wrong(whole, f"a word is missing before {word!r}")
    lowered = word.lower()
    return lambda text: lowered in text, rest


def _begins(tokens: list[_Token], operator: str) -> bool:
    return tokens[:1] == [(False, operator)]


def _wrong(expression: str, why: str) -> UsageError:
    hint = "Write words with and, or, not and brackets: -k 'csv and not (slow or \"two words\")'."
    return UsageError(Problem("usage.keyword", f"-k {expression!r} is no expression: {why}", hint=hint))


_DIFF = "To compare two reports: skillgauge report diff A B."
_NO_REPORT = "No report is called so either: `skillgauge plugins list --kind reporters`. "
_HINT = "List the cases with `skillgauge eval --list`, and write a path with a slash: ./NAME."


def require_cases(
    words: Sequence[str], options: EvalOptions, registry: Registry, *, after_format: bool = False
) -> None:
    """Refuse words that are neither paths nor cases.

    Args:
        words: those that are no paths here.
        options: what is evaluated.
        registry: the run's plugins.
        after_format: whether `--format` was given, whose list of reports any other word ends.

    Raises:
        UsageError: with every such word, and what keeps the cases from being read.
    """
    if not words:
        return
    names: tuple[str, ...] = ()
    further: tuple[Problem, ...] = ()
    try:
        cases = [case for suite in load_suites(options.what, options.cwd, registry).suites for case in suite.cases]
        names = tuple(dict.fromkeys(name for case in cases for name in (case.id, case.name) if name))
    except SkillgaugeError as error:
        further = () if "diff" in words else error.problems  # two reports are no suites, and were not meant as such
    unknown = [word for word in words if not any(fnmatchcase(name, word) for name in names)]
    hint = f"{said_if(after_format, _NO_REPORT)}{_HINT}"
    UsageError.raise_for([*_neither(unknown, names, options, hint), *further])


def _neither(words: Sequence[str], cases: Sequence[str], options: EvalOptions, hint: str) -> Iterator[Problem]:
    try:
        here = sorted(path.name for path in options.cwd.iterdir() if not path.name.startswith("."))
    except OSError:
        here = []
    reporters = {entry.name for entry in read_index().entries("reporters")}  # after `--format json` it may be meant so
    for word in words:
        near = _below(word, here, options.cwd) or did_you_mean(word, [*here, *cases, *reporters])
        message = f"there is no path or case called {word!r}{near}"
        yield Problem("usage.neither-path-nor-case", message, hint=_special_hint(word, options.how) or hint)


def _below(word: str, folders: Iterable[str], cwd: Path) -> str:
    """Return a phrase that names the first folder in which a word is a path; empty if none is."""
    if Path(word).name != word:
        return ""  # it leads elsewhere
    found = (folder for folder in folders if os.path.exists(cwd / folder / word))  # noqa: PTH110 - never raises
    return next((f" (did you mean {folder}/{word}?)" for folder in found), "")


def _special_hint(word: str, how: How) -> str:
    """Return what was meant by a word that some people take for a part of an option, or for a command."""
    if how.timeout_is_bare and (time := short_time(f"{(how.timeout_s or 0) * 1000:g} {word}")):
        return f"If that is the unit of a time, write both in one word: --timeout {time}."
    return said_if(word == "diff", _DIFF)


def around(files: Iterable[Path], formats: Mapping[str, SuiteFormat], cwd: Path) -> tuple[Path, ...]:
    """The nearest folder around each file that a format claims, else the file itself if one does; each once.

    Args:
        files: absolute; one that was removed counts as well.
        formats: formats to ask, by name.
        cwd: no folder above it is looked at.

    Returns:
        None within another, in order. A file that belongs to no suite adds nothing.
    """
    claims: dict[Path, bool] = {}

    def claimed(path: Path) -> bool:
        if path not in claims:
            claims[path] = path.exists() and any(one.claim(path) is not None for one in formats.values())
        return claims[path]

    roots: set[Path] = set()
    for file in (Path(os.path.normpath(one)) for one in files):
        roots.update(islice(filter(claimed, (*_folders(file, cwd), file)), 1))
    return tuple(sorted(one for one in roots if roots.isdisjoint(one.parents)))


def _folders(file: Path, cwd: Path) -> Iterator[Path]:
    """From the nearest to the working directory, or to the root if the file is not below it."""
    folders: Sequence[Path] = file.parents
    if file.is_dir():
        folders = (file, *folders)
    for folder in folders:
        yield folder
        if folder == cwd:
            return


def lines_of(origins: Iterable[Origin | None]) -> dict[Origin | None, int]:
    """The line of each place that has one; every file is read once."""
    wanted: dict[str, dict[Pointer, Origin]] = {}
    for origin in origins:
        if origin:
            wanted.setdefault(origin.file, {})[origin.pointer] = origin
    found = ((by_pointer, places(Path(file), set(by_pointer))) for file, by_pointer in wanted.items())
    return {by_pointer[at]: place[0] for by_pointer, all_ in found for at, place in all_.items() if place}
