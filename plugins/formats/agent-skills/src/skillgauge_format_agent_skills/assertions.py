"""From an assertion to a check, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from skillgauge.api import Check, JsonObject, JsonValue, Origin

from .findings import Findings

TEXT_KEYS = ("text", "assertion", "expectation", "description", "check", "criterion", "name")
"""Where an assertion that is an object says what is asserted, in order of preference."""
RUBRIC = "rubric"
COMMAND = "command"
_Made: TypeAlias = tuple[str, JsonObject]


def _texts(value: JsonValue) -> list[str]:
    """One text or several; nothing if it is something else."""
    values = value if isinstance(value, tuple) else (value,)
    texts = [one for one in values if isinstance(one, str) and one]
    return texts if len(texts) == len(values) else []


def _contains(value: JsonValue, *, strict: bool = True) -> _Made | None:
    texts = _texts(value)
    return ("contains", {"keywords": tuple(texts), "case_sensitive": strict}) if texts else None


def _found(value: JsonValue, pattern: Callable[[str], str], *, strict: bool = True) -> _Made | None:
    texts = _texts(value)
    return ("regex", {"patterns": tuple(map(pattern, texts)), "case_sensitive": strict}) if texts else None


def _any(value: JsonValue, *, strict: bool = True) -> _Made | None:
    joined = "|".join(map(re.escape, _texts(value)))
    return ("regex", {"patterns": (joined,), "case_sensitive": strict}) if joined else None


def _nowhere(pattern: str) -> str:
    return rf"(?s)\A(?!.*(?:{pattern}))"


def _schema(value: JsonValue) -> _Made | None:
    return ("json-schema", {"schema": value}) if isinstance(value, Mapping) else None


def _file(value: JsonValue, state: str) -> _Made | None:
    texts = _texts(value)
    return ("files", {"path": texts[0], "state": state}) if len(texts) == 1 else None


def _command(value: JsonValue) -> _Made | None:
    texts = _texts(value)
    return (COMMAND, {"command": texts[0]}) if len(texts) == 1 else None


DETERMINISTIC: Mapping[str, Callable[[JsonValue], _Made | None]] = {
    "contains": _contains,
    "contains-all": _contains,
    "icontains": lambda value: _contains(value, strict=False),
    "icontains-all": lambda value: _contains(value, strict=False),
    "contains-any": _any,
    "icontains-any": lambda value: _any(value, strict=False),
    "not-contains": lambda value: _found(value, lambda text: _nowhere(re.escape(text))),
    "not-icontains": lambda value: _found(value, lambda text: _nowhere(re.escape(text)), strict=False),
    "starts-with": lambda value: _found(value, lambda text: rf"\A{re.escape(text)}"),
    "ends-with": lambda value: _found(value, lambda text: rf"{re.escape(text)}\Z"),
    "regex": lambda value: _found(value, str),
    "not-regex": lambda value: _found(value, _nowhere),
    "equals": lambda value: None if value is None else ("exact", {"value": value}),
    "is-json": lambda value: _schema({} if value is None else value),
    "json": _schema,
    "json-schema": _schema,
    "file-exists": lambda value: _file(value, "present"),
    "file-created": lambda value: _file(value, "created"),
    "not-file-exists": lambda value: _file(value, "absent"),
    COMMAND: _command,
}
"""Types that a program decides, and the checks that they become; any other type is a matter for a judge."""


@dataclass(frozen=True)
class Assertion:
    """One assertion of a case."""

    check: Check
    raw: JsonObject | None
    """The object as it stood in the file, if it was one."""


def assertion_of(item: JsonValue, reference: JsonValue, origin: Origin, findings: Findings) -> Assertion | None:
    """The check that an assertion stands for; `None` after noting what is wrong with it.

    Args:
        item: a text, or an object.
        reference: what the case expects, for the judge.
        origin: where it stands.
        findings: takes what is wrong.
    """
    if isinstance(item, str):
        text, raw = item.strip(), None
    elif isinstance(item, Mapping):
        found = (item.get(key) for key in TEXT_KEYS)
        text = next((one.strip() for one in found if isinstance(one, str) and one.strip()), "")
        raw = item
    else:
        findings.error("wrong-type", "an assertion must be text, or an object with 'text'", origin)
        return None
    made = _deterministic(raw, text, origin, findings) if raw else None
    if made is not None:
        scorer, options = made
        label = text or f"{(raw or {}).get('type')} {(raw or {}).get('value', '')}".strip()
        return Assertion(Check(id=label, scorer=scorer, options=options, origin=origin), raw)
    if not text:
        findings.error("no-text", "an assertion says nothing", origin, "Write what has to be true of the result.")
        return None
    return Assertion(Check(id=text, scorer=RUBRIC, options=rubric_options(text, reference), origin=origin), raw)


def rubric_options(criteria: str, reference: JsonValue) -> JsonObject:
    """What a judge is told about one assertion."""
    return {"criteria": criteria} if reference is None else {"criteria": criteria, "reference": reference}


def _deterministic(raw: JsonObject, text: str, origin: Origin, findings: Findings) -> _Made | None:
    kind = raw.get("type")
    name = kind.strip().lower().replace("_", "-") if isinstance(kind, str) else ""
    make = DETERMINISTIC.get(name)
    if make is None or ("value" not in raw and name != "is-json"):
        return None
    made = make(raw.get("value"))
    if made is None:
        message = f"an assertion of type {kind!r} cannot have this value, so a judge decides it by its text"
        findings.warning("assertion-value", message, origin)
        return None
    scorer, options = made
    if scorer == COMMAND:
        code = raw.get("expect_exit_code")
        more: dict[str, Any] = {"expect_exit_code": code} if code is not None else {}
        return scorer, {**options, **more, **({"label": text} if text else {})}
    return made


def written(check: Check, raw: JsonValue, reference: JsonValue) -> JsonValue | None:
    """The assertion that stands for a check: the inverse of `assertion_of`; `None` if no assertion can."""
    if isinstance(raw, Mapping):
        return raw
    if check.scorer == RUBRIC and check.options == rubric_options(check.id, reference):
        return check.id
    for kind, value in _candidates(check):
        made = DETERMINISTIC[kind](value)
        if made is not None and made[0] == check.scorer and {**made[1], **_label(check)} == check.options:
            return {"text": check.id, "type": kind, "value": value}
    return None


def _label(check: Check) -> JsonObject:
    return {"label": check.id} if check.scorer == COMMAND else {}


def _candidates(check: Check) -> list[tuple[str, JsonValue]]:
    """Types that might stand for a check, with the value that each would have."""
    options = check.options
    match check.scorer:
        case "contains":
            return [("contains", options.get("keywords")), ("icontains", options.get("keywords"))]
        case "regex":
            return [("regex", options.get("patterns"))]
        case "exact":
            return [("equals", options.get("value"))]
        case "json-schema":
            return [("json-schema", options.get("schema"))]
        case "files":
            return [(kind, options.get("path")) for kind in ("file-exists", "file-created", "not-file-exists")]
        case "command":
            return [(COMMAND, options.get("command"))]
        case _:
            return []
