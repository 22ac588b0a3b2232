"""Reads what a program tells in lines of JSON beside its answer: tokens, and the skills that it loaded.

Nothing is known of any program. An option says which fields the lines have, and what it does not say is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import FiredSkill, RefusedSkill, Usage

INPUT_WITH_CACHE, OUTPUT_WITHOUT_REASONING = "input_with_cache_tokens", "output_without_reasoning_tokens"
"""Counts of programs that count differently than a result does."""
_COST = "cost_usd"
_IDS = ("id", "call_id", "callId", "callID", "tool_use_id", "tool_call_id", "toolCallId")
"""Keys under which programs name a call, and its result the call."""
_FAILED = frozenset({"error", "failed"})
"""Values of `status` by which programs say that a call failed."""
_REASON_CHARACTERS = 300

Record = Mapping[str, object]


def records_in(stdout: str) -> tuple[Record, ...]:
    """The lines that are JSON objects, in their order."""
    records = []
    for line in stdout.splitlines():
        if not line.lstrip().startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            records.append(value)
    return tuple(records)


def at(record: object, key: str) -> object:
    """Return the value at a key, with dots for deeper ones; `None` if there is none."""
    for step in key.split("."):
        if not isinstance(record, Mapping):
            return None
        record = record.get(step)
    return record


def chosen(records: Sequence[Record], where: Mapping[str, object]) -> tuple[Record, ...]:
    """The records whose fields have certain values.

    Args:
        records: all of them.
        where: key, with dots for deeper ones, to value.
    """
    return tuple(record for record in records if all(at(record, key) == value for key, value in where.items()))


def usage_in(records: Sequence[Record], keys: Mapping[str, object]) -> Usage | None:
    """Tokens and cost, added up over the records that tell any.

    Args:
        records: those that count.
        keys: field of `Usage`, or name of another count, to key in a record.

    Returns:
        The sums, input without what a cache held; a field that is missing in one of the records which tell anything is
        unknown. `None` if no record tells any.
    """
    counts = [{name: _number(at(record, str(key))) for name, key in keys.items()} for record in records]
    usages = [_uncached(values) for values in counts if any(value is not None for value in values.values())]
    if not usages:
        return None
    sums: dict[str, float | None] = {}
    for name in usages[0]:
        parts = [values[name] for values in usages]
        sums[name] = None if None in parts else sum(part for part in parts if part is not None)
    cost = sums.pop(_COST, None)
    tokens = {name: None if value is None else int(value) for name, value in sums.items()}
    return Usage(**tokens, cost_usd=cost, cost_basis=None if cost is None else "reported")


def _uncached(values: Mapping[str, float | None]) -> Mapping[str, float | None]:
    """The counts of a record in the kinds of a result, whose input is without what a cache gave.

    Where input and output are the sum, the input holds it.
    """
    kinds = dict(values)
    held = (values.get("cache_read_tokens") or 0) + (values.get("cache_write_tokens") or 0)
    if INPUT_WITH_CACHE in kinds:
        whole = kinds.pop(INPUT_WITH_CACHE)
        kinds["input_tokens"] = None if whole is None else max(0, whole - held)
    if OUTPUT_WITHOUT_REASONING in kinds:
        spoken = kinds.pop(OUTPUT_WITHOUT_REASONING)
        kinds["output_tokens"] = None if spoken is None else spoken + (values.get("reasoning_tokens") or 0)
    sent, output, total = (values.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    if sent is None or held > sent or total != sent + (output or 0):
        return kinds
    return {**kinds, "input_tokens": sent - held}


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and value >= 0 else None  # type: ignore[operator,return-value]


@dataclass
class SkillCalls:
    """The calls by which a program loads skills.

    A call is an object with the tool's name among its values; its skill is an installed one whose name is a value
    somewhere below. The call, or an object with the same id, may say that it failed.

    Args:
        records: all that the program told.
        tools: names of the tool.
        installed: names of the skills.
    """

    records: Sequence[Record]
    tools: Collection[str]
    installed: Collection[str]

    def read(self) -> tuple[tuple[FiredSkill, ...], tuple[RefusedSkill, ...]]:
        """Return the skills that were loaded, and those of which each attempt failed."""
        calls: dict[str, str] = {}
        nameless: set[str] = set()
        failures: dict[str, str] = {}
        for part in _objects(self.records):
            ids = [value for key in _IDS if isinstance(value := part.get(key), str)]
            if name := self._asked_in(part):
                calls.update(dict.fromkeys(ids, name))
                nameless.update(() if ids else (name,))
            if _has_failed(part):
                failures.update(dict.fromkeys(ids, _reason(part)))
        loaded = {*nameless, *(name for call, name in calls.items() if call not in failures)}
        refused = {name: failures[call] for call, name in calls.items() if call in failures and name not in loaded}
        return (
            tuple(FiredSkill(name=name, how="invoked") for name in self.installed if name in loaded),
            tuple(RefusedSkill(name=name, reason=reason) for name, reason in refused.items()),
        )

    def _asked_in(self, part: Mapping[str, object]) -> str | None:
        """Return the skill that a call of the tool names; `None` if it is no such call."""
        if not any(value in self.tools for value in part.values() if isinstance(value, str)):
            return None
        return next((name for name in _texts(part) if name in self.installed), None)


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    """Yield every object in a value, an outer one before those in it."""
    waiting = [value]
    while waiting:
        record = waiting.pop()
        if isinstance(record, Mapping):
            yield record
            waiting.extend(reversed(list(record.values())))
        elif isinstance(record, list | tuple):
            waiting.extend(reversed(record))


def _texts(value: object) -> Iterator[str]:
    for part in _objects(value):
        yield from (text for text in part.values() if isinstance(text, str))


def _has_failed(part: Mapping[str, object]) -> bool:
    state = part.get("state")
    inner = state.get("status") if isinstance(state, Mapping) else None
    return part.get("is_error") is True or part.get("status") in _FAILED or inner in _FAILED


def _reason(part: Mapping[str, object]) -> str:
    words = [" ".join(text.split()) for text in (part.get("content"), part.get("error")) if isinstance(text, str)]
    state = part.get("state")
    if isinstance(state, Mapping) and isinstance(text := state.get("error"), str):
        words.append(" ".join(text.split()))
    return f"its tool failed{''.join(f': {word[:_REASON_CHARACTERS]}' for word in words[:1])}"
