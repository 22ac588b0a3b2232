"""From sets of queries to cases that ask whether the skill fires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgauge.api import Case, Check, JsonObject, JsonValue, Origin

from .cases import TRIGGER
from .files import QueryFile, keys_of
from .findings import Findings
from .sources import Source, line_of

SHOULD, SHOULD_NOT = "should_trigger", "should_not_trigger"
"""Tags, so that every report tells the two kinds of queries apart."""
_LISTS = {
    "should_trigger": True,
    "should_not_trigger": False,
    "should_trigger_prompts": True,
    "should_not_trigger_prompts": False,
}
"""Keys of an object that has the queries in two lists, and what they mean."""
_SAID = ("reason", "confidence")
"""What authors say about a query, for people."""
_NAMES = ("skill", "skill_name")


def trigger_cases(source: Source, skill_name: str, findings: Findings) -> tuple[Case, ...]:
    """The cases of a trigger set, in the order of the file; what is wrong is noted."""
    cases: list[Case] = []
    first: dict[str, Origin] = {}
    for number, (pointer, item) in enumerate(_queries(source, findings), 1):

        def where(*inner: str | int, pointer: tuple[str | int, ...] = pointer) -> Origin:
            key = inner[:1] == ("query",) and isinstance(item, Mapping) and "query" not in item  # noqa: B023
            return source.origin(*pointer, *(("prompt", *inner[1:]) if key else inner))

        query = findings.validated(QueryFile, _query(item), where)
        if query is None:
            continue
        more = [key for key in query.model_extra or () if key not in _SAID]
        findings.unknown_keys(more, keys_of(QueryFile), where)
        case_id = str(query.id) if query.id is not None else str(number)
        if case_id in first:
            message = f"id {case_id!r} is used twice, first at {line_of(first[case_id])}"
            findings.error("duplicate-id", message, where("id"))
        first.setdefault(case_id, where("id"))
        cases.append(_case(query, case_id, skill_name, source.origin(*pointer)))
    if not cases and not findings.errors:
        findings.error("no-cases", "there is no query in it", source.origin(), "Add at least one.")
    return tuple(cases)


def _queries(source: Source, findings: Findings) -> Iterator[tuple[tuple[str | int, ...], JsonValue]]:
    """Every query with its place; lists that say by their name what they hold, as items that say it themselves."""
    value = source.value
    if isinstance(value, tuple):
        yield from (((index,), item) for index, item in enumerate(value))
    elif isinstance(value, Mapping):
        unknown = (key for key in value if key not in _LISTS and key not in _NAMES)
        findings.unknown_keys(unknown, (*_LISTS, *_NAMES), source.origin)
        for key, should in _LISTS.items():
            items = value.get(key, ())
            if not isinstance(items, tuple):
                findings.error("wrong-type", f"{key!r} must be a list", source.origin(key))
                continue
            for index, item in enumerate(items):
                plain = {"query": item} if isinstance(item, str) else item
                yield (key, index), {**plain, "should_trigger": should} if isinstance(plain, Mapping) else item


def _query(item: JsonValue) -> JsonValue:
    if isinstance(item, Mapping) and "prompt" in item and "query" not in item:
        return {"query" if key == "prompt" else key: value for key, value in item.items()}
    return item


def _case(query: QueryFile, case_id: str, skill_name: str, origin: Origin) -> Case:
    return Case(
        id=case_id,
        prompt=query.query,
        checks=(trigger_check(skill_name, query.should_trigger, origin),),
        tags=(SHOULD if query.should_trigger else SHOULD_NOT,),
        extras=_extras(query),
        origin=origin,
    )


def trigger_check(skill_name: str, should_trigger: bool, origin: Origin) -> Check:
    """The check of a query."""
    return Check(
        id=TRIGGER, scorer=TRIGGER, options={"skill": skill_name, "should_trigger": should_trigger}, origin=origin
    )


def _extras(query: QueryFile) -> JsonObject:
    extras: dict[str, Any] = {
        "integer_id": True if isinstance(query.id, int) else None,
        "id": True if query.id is not None else None,
        "keys": query.model_extra or None,
    }
    return {key: value for key, value in extras.items() if value is not None}
