"""Words that are no paths: each must be the name of a case, or the user is told what it may have meant."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..errors import Problem, SkillgaugeError, UsageError, did_you_mean
from ..plan.options import EvalOptions
from ..plan.suites import load_suites
from ..plugins.installed import read_index
from ..plugins.registry import Registry

_DIFF = "To compare two reports: skillgauge report diff A B."
_NO_REPORT = "No report is called so either: `skillgauge plugins list --kind reporters`."
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
    hint = f"{_NO_REPORT} {_HINT}" if after_format else _HINT
    try:
        suites = load_suites(options.what, options.cwd, registry).suites
    except SkillgaugeError as error:
        raise UsageError([*_neither(words, (), options.cwd, hint), *error.problems]) from error
    names = {name: None for suite in suites for case in suite.cases for name in (case.id, case.name) if name}
    unknown = [word for word in words if not any(fnmatchcase(name, word) for name in names)]
    if unknown:
        raise UsageError(list(_neither(unknown, tuple(names), options.cwd, hint)))


def _neither(words: Sequence[str], cases: Sequence[str], cwd: Path, hint: str) -> Iterator[Problem]:
    try:
        here = sorted(path.name for path in cwd.iterdir() if not path.name.startswith("."))
    except OSError:
        here = []
    reporters = {entry.name for entry in read_index().entries("reporters")}  # after `--format json` it may be meant so
    for word in words:
        below = [f"{one}/{word}" for one in here if _is_word(word) and os.path.exists(cwd / one / word)]  # noqa: PTH110 - never raises
        near = f" (did you mean {below[0]}?)" if below else did_you_mean(word, [*here, *cases, *reporters])
        message = f"{word!r} is no path here, and no case of what is here has that name{near}"
        yield Problem("usage.neither-path-nor-case", message, hint=_DIFF if word == "diff" else hint)


def _is_word(word: str) -> bool:
    """Whether it leads nowhere by itself."""
    return Path(word).name == word
