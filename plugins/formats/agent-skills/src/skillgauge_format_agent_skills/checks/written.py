"""From a check to the assertions that become it when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from skillgauge.api import Check, JsonObject, JsonValue
from skillgauge_assertions import effective
from skillgauge_patterns import alternatives

from .assertions import EXPECTED, GRADED, OF_COMMAND, PASS_FAIL, RUBRIC, SCALE, SCORE, SHOWN, with_command_keys
from .phrases import typed_of
from .rules import COMMAND
from .typed import made_of

Keys: TypeAlias = dict[str, JsonValue]


def written(check: Check, raw: JsonValue, reference: JsonValue) -> tuple[JsonValue, ...]:
    """Return the assertions that stand for a check, the inverse of `assertion_of`; none if no assertion can.

    Args:
        check: what is asserted.
        raw: the object that it was read from, if there was one.
        reference: the one that judges of the case are shown.
    """
    if isinstance(raw, Mapping):
        return (raw,)
    counts = counting(check)
    if check.scorer == RUBRIC:
        return tuple(_claim(text, keys, counts) for text, keys in _statements(check, reference))
    if not counts and _is_phrase(check):
        return (check.id,)
    for candidate in _CANDIDATES.get(check.scorer, _nothing)(check.options):
        item = {"text": check.id, **candidate}
        if _means(item, check):
            return (item | counts,)
    return ()


def counting(check: Check) -> Keys:
    """Return the keys that say how an assertion counts."""
    weight: Keys = {} if check.weight == 1 else {"weight": check.weight}
    return weight | ({"optional": True} if check.beside else {})


def _statements(check: Check, reference: JsonValue) -> Iterator[tuple[str, Keys]]:
    """Yield all that a judge is to decide, with the keys that say what it is asked and shown."""
    options = check.options
    keys: Keys = {key: False for key in SHOWN if options.get(key) is False}
    if options.get("claims") is None:
        keys |= _scale(options)
    if options.get("reference") != reference:
        keys[EXPECTED] = options.get("reference")
    statements = options.get("claims") or options.get("criteria")
    for statement in statements if isinstance(statements, tuple) else (statements,):
        yield str(statement), keys


def _scale(options: JsonObject) -> Keys:
    if options.get("scale") == GRADED and options.get("threshold") is not None:
        return {"threshold": options["threshold"]}
    return {SCALE: options.get("scale") or PASS_FAIL}


def _claim(text: str, keys: Keys, counts: Keys) -> JsonValue:
    """Return a statement as it is written: a text alone where that says all."""
    if keys or counts or typed_of(text) is not None or text != text.strip():
        return {"text": text, **keys, **counts}
    return text


def _is_phrase(check: Check) -> bool:
    """Tell whether the id of a check is a phrase that a program decides as the check does."""
    typed = typed_of(check.id)
    rule = made_of(typed) if typed is not None else None
    return rule is not None and (rule[0][0], effective(*rule[0])) == (
        check.scorer,
        effective(check.scorer, check.options),
    )


def _means(item: JsonObject, check: Check) -> bool:
    """Tell whether an assertion becomes a check by the same scorer, with these options."""
    rule = made_of(item)
    if rule is None or rule[0][0] != check.scorer:
        return False
    options = with_command_keys(*rule[0], item, "")
    said = {key: value for key, value in check.options.items() if key != "label"}
    return effective(check.scorer, options) == effective(check.scorer, said)


def _nothing(options: JsonObject) -> Iterator[Keys]:
    yield from ()


def _one_or_all(texts: Sequence[JsonValue]) -> Keys:
    """Return the key for a text, or for several."""
    return {"value": texts[0]} if len(texts) == 1 else {"values": tuple(texts)}


def _listed(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, tuple) and value else ("",)


def _case(options: JsonObject) -> Keys:
    return {} if options.get("case_sensitive", True) else {"case_sensitive": False}


def _contains(options: JsonObject) -> Iterator[Keys]:
    texts = _one_or_all(_listed(options.get("keywords")))
    for kind in ("contains", "icontains", "not-contains", "not-icontains"):
        yield {"type": kind, **texts}


def _regex(options: JsonObject) -> Iterator[Keys]:
    patterns = _listed(options.get("patterns"))
    texts = alternatives(str(patterns[0])) if len(patterns) == 1 else ()
    if len(texts) > 1:
        yield {"type": "contains-any" if options.get("case_sensitive", True) else "icontains-any", "values": texts}
    ends = [("starts-with", _between(str(one), r"\A", "")) for one in patterns]
    ends += [("ends-with", _between(str(one), "", r"\Z")) for one in patterns]
    for kind, text in ends if len(patterns) == 1 else ():
        if text:
            yield {"type": kind, "value": text, **_case(options)}
    for kind in ("regex", "not-regex"):
        yield {"type": kind, **_one_or_all(patterns), **_case(options)}


def _between(pattern: str, start: str, end: str) -> str:
    """Return the text that a pattern asks for at one end; empty if it asks for something else."""
    if not pattern.startswith(start) or not pattern.endswith(end):
        return ""
    texts = alternatives(pattern[len(start) : len(pattern) - len(end)])
    return texts[0] if len(texts) == 1 else ""


def _exact(options: JsonObject) -> Iterator[Keys]:
    yield {"type": "equals", "value": options.get("value"), **_case(options)}


def _schema(options: JsonObject) -> Iterator[Keys]:
    schema = options.get("schema")
    if not schema:
        yield {"type": "is-json"}
    yield {"type": "json-schema", "value": schema}


def _files(options: JsonObject) -> Iterator[Keys]:
    path = options.get("path")
    for kind in ("file-exists", "file-created", "not-file-exists"):
        yield {"type": kind, "path": path}
    looks: tuple[tuple[str, str], ...]
    looks = (("file-contains", "contains"), ("file-not-contains", "lacks"), ("file-matches", "patterns"))
    for kind, key in looks:
        if options.get(key):
            yield {"type": kind, "path": path, **_one_or_all(_listed(options[key])), **_case(options)}


def _tool_call(options: JsonObject) -> Iterator[Keys]:
    for kind in ("tool-use", "not-tool-use"):
        yield {"type": kind, "value": options.get("tool")}


def _command(options: JsonObject) -> Iterator[Keys]:
    keys = (*OF_COMMAND, "threshold") if options.get("reads") == SCORE else OF_COMMAND
    said = {"fail_codes": (0, 1), **effective(COMMAND, options)}
    codes = {} if said["fail_codes"] == "any" else {"fail_codes": said["fail_codes"]}
    yield {
        "type": COMMAND,
        "value": options.get("command"),
        **{key: said[key] for key in keys if key in said and key != "fail_codes"},
        **codes,
    }


_CANDIDATES: Mapping[str, Callable[[JsonObject], Iterator[Keys]]] = {
    "contains": _contains,
    "regex": _regex,
    "exact": _exact,
    "json-schema": _schema,
    "files": _files,
    "tool-call": _tool_call,
    COMMAND: _command,
}
"""By scorer the assertions that might stand for a check; the first that is read as the check is written."""
