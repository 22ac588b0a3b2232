"""Assertions that name a type: the table of those that a program decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from skillgauge.api import JsonObject, JsonValue

COMMAND = "command"
Made: TypeAlias = tuple[str, JsonObject]
"""A scorer and its options."""


@dataclass(frozen=True)
class Given:
    """What an assertion says beside its type."""

    value: JsonValue
    key: str
    """Under which key it says so."""
    strict: bool
    """Whether upper and lower case differ."""

    @property
    def texts(self) -> list[str]:
        """One text or several; nothing if it is something else."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        texts = [one for one in values if isinstance(one, str) and one]
        return texts if len(texts) == len(values) else []

    @property
    def is_pattern(self) -> bool:
        """Whether the key says that it is a regular expression."""
        return self.key in ("pattern", "patterns", "regex")


def _loose(given: Given) -> Given:
    return Given(given.value, given.key, strict=False)


def _regex(given: Given, pattern: Callable[[str], str]) -> Made | None:
    patterns = tuple(map(pattern, given.texts))
    return ("regex", {"patterns": patterns, "case_sensitive": given.strict}) if patterns else None


def _contains(given: Given) -> Made | None:
    if given.is_pattern:
        return _regex(given, _text_or_pattern)
    texts = tuple(given.texts)
    return ("contains", {"keywords": texts, "case_sensitive": given.strict}) if texts else None


def _contains_any(given: Given) -> Made | None:
    joined = "|".join(map(re.escape, given.texts))
    return ("regex", {"patterns": (joined,), "case_sensitive": given.strict}) if joined else None


def _lacks(given: Given) -> Made | None:
    return _regex(given, lambda text: _nowhere(_text_or_pattern(text) if given.is_pattern else re.escape(text)))


def _text_or_pattern(text: str) -> str:
    """A pattern that finds a text as it stands or as a regular expression: by `contains` authors mean either."""
    try:
        re.compile(text)
    except re.error:
        return re.escape(text)
    return text if re.escape(text) == text or text.startswith("(?") else f"(?:{text})|{re.escape(text)}"


def _nowhere(pattern: str) -> str:
    return rf"(?s)\A(?!.*(?:{pattern}))"


def _schema(given: Given) -> Made | None:
    return ("json-schema", {"schema": given.value}) if isinstance(given.value, Mapping) else None


def _one(given: Given, make: Callable[[str], Made]) -> Made | None:
    return make(given.texts[0]) if len(given.texts) == 1 else None


def _file(state: str) -> Callable[[Given], Made | None]:
    return lambda given: _one(given, lambda path: ("files", {"path": path, "state": state}))


@dataclass(frozen=True)
class _Rule:
    make: Callable[[Given], Made | None]
    keys: tuple[str, ...]
    """Where the value may stand, in order of preference."""
    about_text: bool = False
    """Whether it looks for something in a text, which may be that of a file."""


_TEXTS = ("value", "phrase", "pattern")
_PATTERNS = ("value", "pattern", "patterns", "regex")
_PATHS = ("value", "path", "file")

_CONTAINS = _Rule(_contains, _TEXTS, about_text=True)
_LACKS = _Rule(_lacks, _TEXTS, about_text=True)
_FOUND = _Rule(lambda given: _regex(given, str), _PATTERNS, about_text=True)
_ABSENT = _Rule(lambda given: _regex(given, _nowhere), _PATTERNS, about_text=True)

RULES: Mapping[str, _Rule] = {
    "contains": _CONTAINS,
    "contains-all": _CONTAINS,
    "contains-phrase": _CONTAINS,
    "content-contains": _CONTAINS,
    "icontains": _Rule(lambda given: _contains(_loose(given)), _TEXTS, about_text=True),
    "icontains-all": _Rule(lambda given: _contains(_loose(given)), _TEXTS, about_text=True),
    "contains-any": _Rule(_contains_any, ("value",), about_text=True),
    "icontains-any": _Rule(lambda given: _contains_any(_loose(given)), ("value",), about_text=True),
    "not-contains": _LACKS,
    "not-contains-phrase": _LACKS,
    "content-not-contains": _LACKS,
    "not-icontains": _Rule(lambda given: _lacks(_loose(given)), _TEXTS, about_text=True),
    "starts-with": _Rule(lambda given: _regex(given, lambda text: rf"\A{re.escape(text)}"), _TEXTS, about_text=True),
    "ends-with": _Rule(lambda given: _regex(given, lambda text: rf"{re.escape(text)}\Z"), _TEXTS, about_text=True),
    "regex": _FOUND,
    "regex-present": _FOUND,
    "content-regex": _FOUND,
    "contains-pattern": _FOUND,
    "not-regex": _ABSENT,
    "regex-absent": _ABSENT,
    "not-contains-pattern": _ABSENT,
    "equals": _Rule(lambda given: ("exact", {"value": given.value}), ("value",)),
    "is-json": _Rule(_schema, ("value",)),
    "json": _Rule(_schema, ("value",)),
    "json-schema": _Rule(_schema, ("value", "schema")),
    "file-exists": _Rule(_file("present"), _PATHS),
    "file-created": _Rule(_file("created"), _PATHS),
    "not-file-exists": _Rule(_file("absent"), _PATHS),
    COMMAND: _Rule(lambda given: _one(given, lambda text: (COMMAND, {"command": text})), ("value", "command")),
}
"""Types that a program decides, in the spelling with hyphens; any other is a matter for a judge."""

_TURNS = frozenset({"negate", "negated", "not", "invert", "min_count", "max_count", "count", "scope"})
"""Keys that change what a type means in a way that no rule here follows."""
_ANSWER = (None, "output", "response", "answer")
"""What `target` may say of an assertion about what was answered."""
_UNDERSTOOD = frozenset({"type", "case_sensitive", "flags", "target", "expect_exit_code"})


def kind_of(raw: JsonObject) -> str:
    """The type of an assertion in the spelling of the table; empty if it has none."""
    kind = raw.get("type")
    return kind.strip().lower().replace("_", "-") if isinstance(kind, str) else ""


def made_of(raw: JsonObject) -> tuple[Made, frozenset[str]] | None:
    """What decides an assertion, with the keys that it rests on; `None` if that is a judge."""
    kind = kind_of(raw)
    rule = RULES.get(kind)
    if rule is None or _TURNS & raw.keys() or raw.get("target") not in _ANSWER:
        return None
    key = next((one for one in rule.keys if raw.get(one) is not None), "")
    given = Given(raw.get(key, {} if kind == "is-json" else None), key, strict=_is_strict(raw))
    made = rule.make(given) if key or kind == "is-json" else None
    path_key = next((one for one in ("path", "file") if one in raw), "") if rule.about_text else ""
    if made is not None and path_key:
        made = _of_file(made, raw[path_key])
    return (made, _UNDERSTOOD | {key, path_key}) if made is not None else None


def _is_strict(raw: JsonObject) -> bool:
    flags = raw.get("flags")
    return raw.get("case_sensitive") is not False and not (isinstance(flags, str) and "i" in flags)


def _of_file(made: Made, path: JsonValue) -> Made | None:
    """The same asked of a file in place of the answer."""
    scorer, options = made
    if not isinstance(path, str) or not path:
        return None
    sought: dict[str, Any] = {"contains" if scorer == "contains" else "patterns": next(iter(options.values()))}
    return "files", {"path": path, "state": "present", **sought, "case_sensitive": options["case_sensitive"]}
