"""The table of the types of assertions that a program decides."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from skillgauge.api import FrozenDict, JsonObject, JsonValue

COMMAND = "command"
ANY_FAILS = "any"
"""`fail_codes` of a command that says yes or no: `grep` ends with 2 where there is no file, and that is a no."""
Made: TypeAlias = tuple[str, JsonObject]
"""A scorer and its options."""


@dataclass(frozen=True)
class Given:
    """The keys of an assertion beside its type."""

    value: JsonValue
    key: str
    """Under which key it says so."""
    strict: bool
    """Whether upper and lower case differ."""

    @property
    def texts(self) -> list[str]:
        """One text or several; nothing if it is something else."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        texts = [_as_text(one) for one in values]
        return [one for one in texts if one] if all(texts) else []

    @property
    def is_pattern(self) -> bool:
        """True if the key says that it is a regular expression."""
        return self.key in ("pattern", "patterns", "regex")


def _as_text(value: JsonValue) -> str:
    """A number is looked for as it is written."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _loose(given: Given) -> Given:
    return Given(given.value, given.key, strict=False)


def _regex(given: Given, pattern: Callable[[str], str], **more: bool) -> Made | None:
    patterns = tuple(map(pattern, given.texts))
    return ("regex", {"patterns": patterns, "case_sensitive": given.strict, **more}) if patterns else None


def _contains(assertion: Given, **more: bool) -> Made | None:
    if assertion.is_pattern:
        return _regex(assertion, text_or_pattern, **more)
    texts = tuple(assertion.texts)
    return ("contains", {"keywords": texts, "case_sensitive": assertion.strict, **more}) if texts else None


def _contains_any(given: Given) -> Made | None:
    joined = "|".join(text_or_pattern(text) if given.is_pattern else re.escape(text) for text in given.texts)
    return ("regex", {"patterns": (joined,), "case_sensitive": given.strict}) if joined else None


def _lacks(given: Given) -> Made | None:
    return _contains(given, absent=True)


def text_or_pattern(text: str) -> str:
    """A pattern that finds a text as it stands or as a regular expression: by `contains` authors mean either."""
    try:
        re.compile(text)
    except re.error:
        return re.escape(text)
    return text if re.escape(text) == text or text.startswith("(?") else f"(?:{text})|{re.escape(text)}"


def nowhere(pattern: str) -> str:
    """A pattern that is found in what has no place that fits another."""
    return rf"\A(?!(?s:.*)(?:{pattern}))"


def _schema(given: Given) -> Made | None:
    return ("json-schema", {"schema": given.value}) if isinstance(given.value, Mapping) else None


def _exact(given: Given) -> Made:
    return "exact", {"value": given.value, **({} if given.strict else {"case_sensitive": False})}


def _single(given: Given, make: Callable[[str], Made]) -> Made | None:
    return make(given.texts[0]) if len(given.texts) == 1 else None


def _file(state: str) -> Callable[[Given], Made | None]:
    return lambda given: _single(given, lambda path: ("files", {"path": path, "state": state}))


def _tool(*, called: bool) -> Callable[[Given], Made | None]:
    return lambda given: _single(given, lambda name: ("tool-call", {"tool": name, "called": called}))


def _command(assertion: Given) -> Made | None:
    if assertion.key == "cmd" and isinstance(assertion.value, tuple):
        words = assertion.texts
        return command_made(shlex.join(words)) if words else None
    return _single(assertion, command_made)


def command_made(command: str) -> Made:
    """A shell command that says yes with 0, and no with anything else."""
    return COMMAND, {"command": command, "fail_codes": ANY_FAILS}


EVERYWHERE = "--exclude-dir='.[!.]*' --"
"""Answer and files of the session; hidden folders hold what was installed for the agent."""


def _in_code(assertion: Given, *, is_wanted: bool = True) -> Made | None:
    flags = "F" if not assertion.is_pattern else "E"
    blocks = [
        f"grep -rq{flags}{'' if assertion.strict else 'i'} {EVERYWHERE} {shlex.quote(text)} ."
        for text in assertion.texts
    ]
    if not blocks:
        return None
    return command_made(" && ".join(blocks) if is_wanted else " && ".join(f"! {one}" for one in blocks))


@dataclass(frozen=True)
class Rule:
    """The way in which a program decides assertions of a type."""

    make: Callable[[Given], Made | None]
    keys: tuple[str, ...]
    """Where the value may stand, in order of preference."""
    about_text: bool = False
    """Whether it looks for something in a text, which may be that of a file."""
    opposite: str = ""
    """The type that decides the contrary, for `negate`."""
    needs_path: bool = False
    """Whether it is about a file that has to be named."""


_TEXTS = ("value", "values", "phrase", "phrases", "pattern", "patterns", "keyword", "keywords", "substring")
_PATTERNS = ("value", "values", "pattern", "patterns", "regex")
_PATHS = ("value", "path", "file", "filename", "pattern")
_CODE = ("value", "values", "check", "pattern", "code")
_TOOLS = ("value", "tool", "tool_name")

_CONTAINS = Rule(_contains, _TEXTS, about_text=True, opposite="not-contains")
_LOOSE = Rule(lambda given: _contains(_loose(given)), _TEXTS, about_text=True, opposite="not-icontains")
_LACKS = Rule(_lacks, _TEXTS, about_text=True, opposite="contains-any")
_ANY = Rule(_contains_any, _TEXTS, about_text=True, opposite="not-contains")
_FOUND = Rule(lambda given: _regex(given, str), _PATTERNS, about_text=True, opposite="not-regex")
_ABSENT = Rule(lambda given: _regex(given, str, absent=True), _PATTERNS, about_text=True, opposite="regex")
_EQUALS = Rule(_exact, ("value", "expected"))
_COMMAND = Rule(_command, ("value", "command", "cmd", "run", "script"))

_NAMED: tuple[tuple[tuple[str, ...], Rule], ...] = (
    (
        (
            "contains",
            "contains-all",
            "contains-phrase",
            "contains-text",
            "contains-string",
            "contains-keyword",
            "contains-keywords",
            "content-contains",
            "output-contains",
            "response-contains",
            "substring",
            "includes",
            "keyword",
            "keywords",
        ),
        _CONTAINS,
    ),
    (("icontains", "icontains-all"), _LOOSE),
    (("contains-any", "content-contains-any", "any-of"), _ANY),
    (
        ("icontains-any",),
        Rule(lambda given: _contains_any(_loose(given)), _TEXTS, about_text=True, opposite="not-icontains"),
    ),
    (
        (
            "not-contains",
            "not-contains-phrase",
            "not-contains-any",
            "content-not-contains",
            "output-not-contains",
            "does-not-contain",
            "not-includes",
            "excludes",
        ),
        _LACKS,
    ),
    (
        ("not-icontains",),
        Rule(lambda given: _lacks(_loose(given)), _TEXTS, about_text=True, opposite="icontains-any"),
    ),
    (
        ("starts-with",),
        Rule(lambda given: _regex(given, lambda text: rf"\A{re.escape(text)}"), _TEXTS, about_text=True),
    ),
    (("ends-with",), Rule(lambda given: _regex(given, lambda text: rf"{re.escape(text)}\Z"), _TEXTS, about_text=True)),
    (
        (
            "regex",
            "regex-present",
            "regex-match",
            "matches-regex",
            "content-regex",
            "output-regex",
            "output-matches",
            "contains-pattern",
            "content-matches",
            "matches",
            "pattern",
        ),
        _FOUND,
    ),
    (
        (
            "not-regex",
            "regex-absent",
            "regex-not-match",
            "content-not-regex",
            "not-contains-pattern",
            "not-matches",
            "output-not-matches",
        ),
        _ABSENT,
    ),
    (("equals", "exact", "exact-match"), _EQUALS),
    (("is-json", "json", "valid-json"), Rule(_schema, ("value", "schema"))),
    (("json-schema",), Rule(_schema, ("value", "schema"))),
    (("file-exists", "file-present", "path-exists"), Rule(_file("present"), _PATHS, opposite="not-file-exists")),
    (("file-created", "creates-file"), Rule(_file("created"), _PATHS)),
    (
        ("not-file-exists", "file-not-exists", "file-absent"),
        Rule(_file("absent"), _PATHS, opposite="file-exists"),
    ),
    (
        ("file-contains", "file-content", "file-content-contains"),
        Rule(_contains, (*_TEXTS, "content", "contains"), about_text=True, opposite="not-contains", needs_path=True),
    ),
    (
        ("file-matches", "file-regex", "file-content-regex"),
        Rule(lambda given: _regex(given, str), _PATTERNS, about_text=True, opposite="not-regex", needs_path=True),
    ),
    (
        ("file-not-contains",),
        Rule(_lacks, (*_TEXTS, "content"), about_text=True, opposite="contains-any", needs_path=True),
    ),
    (("code-contains",), Rule(_in_code, _CODE, opposite="code-not-contains")),
    (
        ("code-not-contains",),
        Rule(lambda given: _in_code(given, is_wanted=False), _CODE, opposite="code-contains"),
    ),
    (("tool-use", "tool-used", "tool-call", "tool-called", "uses-tool"), Rule(_tool(called=True), _TOOLS)),
    (("not-tool-use", "tool-not-used", "not-tool-call", "tool-not-called"), Rule(_tool(called=False), _TOOLS)),
    ((COMMAND, "shell", "bash", "exec", "run-command", "command-succeeds"), _COMMAND),
)
RULES: Mapping[str, Rule] = {name: rule for names, rule in _NAMED for name in names}
"""Types that a program decides, in the spelling with hyphens."""


def kinds_of_rules() -> Iterator[tuple[tuple[str, ...], tuple[str, ...], str, str]]:
    """The table for people: types, keys of their value, scorer, and the type that decides the contrary."""
    for names, rule in _NAMED:
        value: JsonValue = FrozenDict() if rule.make is _schema else "x"
        decision = rule.make(Given(value, rule.keys[0], strict=True))
        scorer = "files" if rule.needs_path else decision[0] if decision else ""
        yield names, rule.keys, scorer, rule.opposite
