"""From an assertion to a check, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Check, JsonObject, JsonValue, Origin, text_of

from .findings import Findings
from .typed import COMMAND, kind_of, made_of

TEXT_KEYS = ("text", "assertion", "expectation", "description", "check", "criterion", "name")
"""Where an assertion that is an object says what is asserted, in order of preference."""
_SAYING_KEYS = (*TEXT_KEYS, "prompt", "value")
"""The same for one with a type that a judge decides, whose value may be all that it says."""
RUBRIC = "rubric"
_ASIDE = (*TEXT_KEYS, "id", "type")
"""Keys that add nothing to what is asserted."""


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
        text, raw = _first_text(item, TEXT_KEYS), item
    else:
        findings.error("wrong-type", "an assertion must be text, or an object with 'text'", origin)
        return None
    found = made_of(raw) if raw is not None else None
    if raw is not None and found is not None:
        (scorer, options), understood = found
        findings.unknown_keys(_left(raw, understood), (*_ASIDE, *understood), lambda _key: origin)
        label = text or " ".join([str(raw["type"]), *(text_of(raw[key]) for key in raw if key not in _ASIDE)][:2])
        return Assertion(Check(id=label, scorer=scorer, options=_told(scorer, options, raw, text), origin=origin), raw)
    claim = text
    if raw is not None and kind_of(raw):
        findings.left_to_judge(str(raw["type"]), origin)
        text = text or _first_text(raw, _SAYING_KEYS)
        claim = _with_details(text, raw)
    elif raw is not None:
        findings.unknown_keys(_left(raw, frozenset()), _ASIDE, lambda _key: origin)
    if not text:
        findings.error("no-text", "an assertion says nothing", origin, "Write what has to be true of the result.")
        return None
    return Assertion(Check(id=text, scorer=RUBRIC, options=rubric_options(claim, reference), origin=origin), raw)


def rubric_options(claim: str, reference: JsonValue) -> JsonObject:
    """What a judge is told about one assertion, which is true or false."""
    return {"claims": (claim,)} if reference is None else {"claims": (claim,), "reference": reference}


def _first_text(raw: JsonObject, keys: tuple[str, ...]) -> str:
    found = (raw.get(key) for key in keys)
    return next((one.strip() for one in found if isinstance(one, str) and one.strip()), "")


def _left(raw: JsonObject, understood: frozenset[str]) -> list[str]:
    """Keys without effect."""
    return [key for key in raw if key not in _ASIDE and key not in understood]


def _with_details(text: str, raw: JsonObject) -> str:
    """A claim with everything that its author says of it: a value, a pattern, an instruction to the judge."""
    details = [f"{key}: {text_of(value)}" for key, value in raw.items() if key not in _ASIDE and value != text]
    return f"{text} ({raw['type']}; {'; '.join(details)})" if details else text


def _told(scorer: str, options: JsonObject, raw: JsonObject, text: str) -> JsonObject:
    """Options with what only a command has beside its value."""
    if scorer != COMMAND:
        return options
    code = raw.get("expect_exit_code")
    more: dict[str, Any] = {"expect_exit_code": code} if code is not None else {}
    return {**options, **more, **({"label": text} if text else {})}


def written(check: Check, raw: JsonValue, reference: JsonValue) -> JsonValue | None:
    """The assertion that stands for a check: the inverse of `assertion_of`; `None` if no assertion can."""
    if isinstance(raw, Mapping):
        return raw
    if check.scorer == RUBRIC and check.options in (rubric_options(check.id, reference), {"criteria": check.id}):
        return check.id
    for kind, value in _candidates(check):
        item: JsonObject = {"text": check.id, "type": kind, "value": value}
        found = made_of(item)
        made = found[0] if found is not None else None
        if made is not None and made[0] == check.scorer and _told(*made, item, check.id) == check.options:
            return item
    return None


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
