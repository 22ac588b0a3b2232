"""Tags, which are keys with values there and texts here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from skillgauge.api import JsonObject, JsonValue, text_of

Written = JsonObject | tuple[str, ...] | None


def tags_of(written: Written) -> tuple[str, ...]:
    """Return tags as `key:value`, or as `key` for one without a value; those for a program are none."""
    tags = written if isinstance(written, tuple) else _pairs(written or {})
    return tuple(dict.fromkeys(tags))


def for_programs(written: Written) -> dict[str, JsonValue]:
    """Return the tags that hold JSON, which some executor reads."""
    pairs = written.items() if isinstance(written, Mapping) else ()
    return {key: value for key, value in pairs if _is_for_program(value)}


def written_tags(tags: Iterable[str]) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Return tags as they are written, and those for which there is no way."""
    values: dict[str, list[JsonValue]] = {}
    lost = []
    for tag in tags:
        key, _, value = tag.partition(":")
        if tags_of({key: value}) == (tag,):
            values.setdefault(key, []).append(value)
        else:
            lost.append(tag)
    return {key: items[0] if len(items) == 1 else tuple(items) for key, items in values.items()}, tuple(lost)


def _pairs(written: JsonObject) -> Iterator[str]:
    for key, value in written.items():
        if _is_for_program(value):
            continue
        for item in value if isinstance(value, tuple) else (value,):
            text = "" if item is None else text_of(item)
            yield f"{key}:{text}" if text else key


def _is_for_program(value: JsonValue) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith(("{", "[")))
