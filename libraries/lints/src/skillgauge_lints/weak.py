"""Lints of checks that hold for nearly every answer, and of limits and prompts that are hardly meant as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import Case, Check, Suite
from skillgauge.api.run import LintFinding, LintSubject

from .cases import at, named, texts_of

_ANYTHING = re.compile(r"(?:\\[wWsSdDbB]|\.|\[[^\]]*\]|[a-zA-Z]|\\n|[(|)])[+*?]?|\^|\$|\{\d*,?\d*\}")
_ANSWERS = (
    "I'm sorry, but I can't help with that.",
    "Done. I have made the changes that you asked for.",
    "Hello! How can I help you today?",
)
"""Answers to no question in particular, without a digit and without markup."""
_LONGEST_PATTERN = 40
"""Characters of a pattern that may be so weak that everything matches; longer ones ask for something."""
_LONG_S = 10_000.0
_DIGIT_FIRST = re.compile(r"\d+\s+\S")
_PATH = re.compile(r"(?:file://|@)?(?P<path>[\w.-]+(?:/[\w.-]+)*\.(?:md|txt|json|ya?ml|csv))")


def matches_anything(subject: LintSubject) -> Iterator[LintFinding]:
    """Patterns that nearly any answer matches."""
    for case, check in _checks(subject.suite):
        if check.scorer != "regex" or check.options.get("absent"):
            continue
        patterns = texts_of(check.options.get("patterns"))
        if patterns and all(map(_is_weak, patterns)):
            shown = ", ".join(repr(pattern) for pattern in patterns)
            message = f"{named(case, check)} passes for nearly any answer, an apology too: {shown}"
            yield LintFinding(message, at(case, check))


def _is_weak(pattern: str) -> bool:
    """Tell whether answers to no question match; only short patterns of simple parts are tried, which cannot run on."""
    if len(pattern) > _LONGEST_PATTERN or _ANYTHING.sub("", pattern) or re.search(r"[+*}][)][+*{]", pattern):
        return False
    try:
        compiled = re.compile(pattern)
    except re.error:
        return False
    return compiled.search("") is None and all(compiled.search(answer) for answer in _ANSWERS)


def negative_only(subject: LintSubject) -> Iterator[LintFinding]:
    """Suites in which an agent that says and does nothing passes every case."""
    suite = subject.suite
    checks = [check for _, check in _checks(suite)]
    if checks and all(_is_negative(check) for check in checks):
        message = f"all {len(checks)} checks say what must not be there: an agent that does nothing passes them"
        yield LintFinding(message, suite.origin)


def _is_negative(check: Check) -> bool:
    return check.scorer in ("contains", "regex", "tool-call", "files") and bool(check.options.get("absent"))


def long_timeout(subject: LintSubject) -> Iterator[LintFinding]:
    """Time limits of hours, which were meant in milliseconds."""
    for case in subject.suite.cases:
        limit_s = case.limits.timeout_s
        if limit_s is not None and limit_s >= _LONG_S:
            message = f"case {case.id!r} may take {limit_s / 3600:.1f} hours: the limit counts in seconds"
            yield LintFinding(message, case.origin)


def begins_with_digit(subject: LintSubject) -> Iterator[LintFinding]:
    """Texts that begin with a number and so stand in texts with a larger number, too."""
    for case, check in _checks(subject.suite):
        if check.scorer != "contains" or check.options.get("absent"):
            continue
        for text in texts_of(check.options.get("keywords")):
            if _DIGIT_FIRST.match(text):
                yield LintFinding(f"{named(case, check)} finds {text!r} in '1{text}', too", at(case, check))
                break


def prompt_is_path(subject: LintSubject) -> Iterator[LintFinding]:
    """Prompts that are the path of a file, which agents are asked literally."""
    roots = _places(subject.suite)
    for case in subject.suite.cases:
        written = _PATH.fullmatch((case.prompt or "").strip())
        if (
            written
            and not _is_given(case, written["path"])
            and any((root / written["path"]).is_file() for root in roots)
        ):
            message = f"case {case.id!r} asks the agent {case.prompt!r}, the path of a file and not what stands in it"
            yield LintFinding(message, case.origin)


def _places(suite: Suite) -> list[Path]:
    """Return the folders that a path in a suite may start from."""
    file = Path(suite.origin.file) if suite.origin else None
    return [Path(suite.root), *([file.parent, file.parent.parent] if file else [])]


def _is_given(case: Case, path: str) -> bool:
    return any(file.path == path for file in case.files)


def _checks(suite: Suite) -> Iterator[tuple[Case, Check]]:
    return ((case, check) for case in suite.cases if not case.skip for check in case.checks if not check.beside)
