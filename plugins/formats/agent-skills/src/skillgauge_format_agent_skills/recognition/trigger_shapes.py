"""The shapes of trigger sets: where they keep their queries, and how they say whether the skill should fire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillgauge_documents.immutables import immutable

Pointer = tuple[str | int, ...]

QUERY_KEYS = ("query", "prompt", "input", "text", "utterance", "user_message", "message")
SURE_KEYS = ("should_trigger", "expected_trigger", "should_fire", "should_activate", "expect_trigger")
"""Keys that ask nothing else than whether the skill should fire."""
OUTCOME_KEYS = (*SURE_KEYS, "expected", "expect", "trigger")
"""Keys with which a query says whether the skill should fire."""
_FIRES = ("trigger", "use", "fire", "activate", "should-trigger")
_NEGATIONS = ("no", "not", "non", "do-not", "don't", "should-not")
_YES, _NO = ("yes", "true", "positive"), ("no", "none", "false", "negative", "skip", "ignore", "silent")
SIDES = {
    "should_trigger": True,
    "should_not_trigger": False,
    "should_trigger_prompts": True,
    "should_not_trigger_prompts": False,
    "positive": True,
    "negative": False,
    "positives": True,
    "negatives": False,
    "positive_cases": True,
    "negative_cases": False,
}
"""Lists whose name says it for all of their queries."""
SPLITS = ("train", "validation", "valid", "val", "dev", "test", "held_out", "heldout", "holdout")
"""Lists, and first words of file names, that name the part of a set that a query belongs to."""
LISTS = ("queries", "trigger_cases", "boundary_cases", "trigger_queries", "trigger_evals", "cases", "tests", "evals")
"""Lists of queries that say it themselves."""
_OTHERS = ("assertions", "expectations", "expected_output", "expected_behavior", "ground_truth", "question", "assert")
"""Keys of evals that ask for more than whether a skill fires."""
_LOOKED_AT = 5


@immutable
class Query:
    """One query where it stands."""

    pointer: Pointer
    item: Any
    """As written; a text alone where the list says the rest."""
    should: bool | None = None
    """What the list says."""
    split: str = ""
    """What the list says."""


def is_trigger_set(value: object) -> bool:
    """Tell whether a document only asks whether a skill fires."""
    if isinstance(value, Mapping):
        return _is_object(value)
    return isinstance(value, list | tuple) and bool(value) and all(map(is_query, value[:_LOOKED_AT]))


def _is_object(value: Mapping[Any, Any]) -> bool:
    sides = [key for key in SIDES if key in value]
    if any(key.startswith("should") and _is_list(value[key]) for key in sides):
        return all(_is_list(value[key]) for key in sides)
    if {"positive", "negative"} <= {*sides} or {"positives", "negatives"} <= {*sides}:
        return all(_is_list(value[key]) and all(map(_is_plain, value[key][:_LOOKED_AT])) for key in sides)
    lists = [value[key] for key in (*LISTS, *SPLITS) if value.get(key)]
    return bool(lists) and all(is_trigger_set(one) for one in lists)


def is_query(item: object) -> bool:
    """Tell whether an item is a query that says itself whether the skill should fire."""
    if not isinstance(item, Mapping) or any(key in item for key in _OTHERS):
        return False
    outcome = outcome_key(item)
    return (
        bool(outcome) and query_key(item) != "" and (outcome in SURE_KEYS or fires(item[outcome], outcome) is not None)
    )


def _is_plain(item: object) -> bool:
    return isinstance(item, str) or (isinstance(item, Mapping) and query_key(item) != "")


def query_key(item: Mapping[Any, Any]) -> str:
    """Return the key under which a query has its text."""
    return next((key for key in QUERY_KEYS if key in item), "")


def outcome_key(item: Mapping[Any, Any]) -> str:
    """Return the key under which a query says whether the skill should fire."""
    return next((key for key in OUTCOME_KEYS if key in item), "")


def fires(value: object, key: str) -> bool | None:
    """Read from the value of a key whether the skill should fire; `None` if it says nothing of the kind."""
    if isinstance(value, bool) or not isinstance(value, str):
        return value if isinstance(value, bool) else None
    word = value.strip().lower().replace("_", "-").replace(" ", "-")
    if word in _FIRES or (key in SURE_KEYS and word in _YES):
        return True
    if any(word == f"{no}-{one}" for no in _NEGATIONS for one in _FIRES) or (key in SURE_KEYS and word in _NO):
        return False
    return None


def queries_of(value: Any, split: str = "", pointer: Pointer = ()) -> Iterator[Query]:
    """Every query of a trigger set, in the order of the file within each list."""
    if _is_list(value):
        yield from (Query((*pointer, index), item, split=split) for index, item in enumerate(value))
        return
    for key, inner in value.items():
        place = (*pointer, key)
        if key in SIDES and _is_list(inner):
            yield from (Query((*place, at), item, SIDES[key], split) for at, item in enumerate(inner))
        elif key in SPLITS and isinstance(inner, list | tuple | Mapping):
            yield from queries_of(inner, key, place)
        elif key in LISTS and _is_list(inner):
            yield from queries_of(inner, split, place)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
