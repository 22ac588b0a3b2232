"""From sets of queries to cases that ask whether the skill fires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import Case, Check, JsonObject, JsonValue, Origin, RepeatRule, cut

from ..findings import Findings
from ..recognition.shapes import evals_in
from ..recognition.skill_search import NAME_KEYS, PATH_KEY
from ..recognition.sources import Source, line_of
from ..recognition.trigger_shapes import LISTS, SIDES, SPLITS, Query, fires, outcome_key, queries_of, query_key
from .cases import TRIGGER
from .files import QueryFile, keys_of

SHOULD, SHOULD_NOT = "should_trigger", "should_not_trigger"
"""Tags, so that every report tells the two kinds of queries apart."""
THRESHOLD = 0.5
"""Share of the sessions of a query in which the skill has to fire, or that it may not reach, if the file gives none."""
_NAME_LENGTH = 60
"""Characters of a query that name it where its author gives no id."""
_SAID = ("confidence", "category", "notes", "note", "why", "rationale", "type")
"""What authors say about a query, for people."""
_ABOUT = (*NAME_KEYS, PATH_KEY, "description_under_test", "description", "version", "notes")
"""What authors say about a set."""
_OTHER_NAMES = {"owner": "expected_skill", "partition": "split", "name": "id"}


def trigger_cases(source: Source, skill_name: str, findings: Findings) -> tuple[Case, ...]:
    """The cases of a trigger set, in the order of the file; what is wrong is noted."""
    if isinstance(source.value, Mapping):
        keys = (*SIDES, *LISTS, *SPLITS, *_ABOUT)
        for key in source.value:
            if key not in keys and not findings.are_unread(evals_in(source.value[key]), source.origin(key)):
                findings.unknown_keys((key,), keys, source.origin)
    split = _split_of_file(source)
    cases: list[Case] = []
    first: dict[str, Origin] = {}
    for number, query in enumerate(queries_of(source.value, split), 1):
        case = _read(query, number, source, skill_name, findings)
        if case is None:
            continue
        if case.id in first:
            message = f"id {case.id!r} is used twice, first at {line_of(first[case.id])}"
            findings.error("duplicate-id", message, source.origin(*query.pointer, "id"))
        first.setdefault(case.id, source.origin(*query.pointer, "id"))
        cases.append(case)
    if not cases and not findings.errors:
        findings.error("no-cases", "there is no query in it", source.origin(), "Add at least one.")
    return tuple(cases)


def _split_of_file(source: Source) -> str:
    """Return the split that a name such as `train_queries.json` means."""
    first = source.path.name.lower().partition(".")[0].replace("-", "_").partition("_")[0]
    return first if first in SPLITS and first != "test" else ""


def _read(query: Query, number: int, source: Source, skill_name: str, findings: Findings) -> Case | None:
    """The case of a query; `None` if something is wrong with it, which is noted."""
    written = {"query": query.item} if isinstance(query.item, str) else query.item
    if not isinstance(written, Mapping):
        findings.error("wrong-type", "a query must be a text or an object", source.origin(*query.pointer))
        return None
    fields, renamed = _under_our_names(written, query)

    def where(*inner: str | int) -> Origin:
        key = renamed.get(str(inner[0])) if inner else None
        return source.origin(*query.pointer, *((key, *inner[1:]) if key else inner))

    outcome = fields.get("should_trigger")
    if isinstance(outcome, str):
        should = fires(outcome, outcome_key(written))
        if should is None:
            hint = "Write true or false."
            findings.error(
                "value", f"{outcome!r} does not say whether the skill should fire", where("should_trigger"), hint
            )
            return None
        fields["should_trigger"] = should
    file = findings.validated(QueryFile, fields, where)
    if file is None:
        return None
    findings.unknown_keys([key for key in file.model_extra or () if key not in _SAID], keys_of(QueryFile), where)
    origin = source.origin(*query.pointer)
    if file.id is not None:
        return _case(file, str(file.id), skill_name, origin)
    shortened = cut(" ".join(file.query.split()), _NAME_LENGTH)  # a number alone tells nobody which query it is
    return _case(file, str(number), skill_name, origin, name=shortened)


def _under_our_names(written: Mapping[str, JsonValue], query: Query) -> tuple[dict[str, Any], dict[str, str]]:
    """A query under the keys that it has here, and what they are called in the file."""
    names = {query_key(written): "query", **({} if query.should is not None else {outcome_key(written): SHOULD})}
    names |= {other: ours for other, ours in _OTHER_NAMES.items() if ours not in written}
    fields: dict[str, Any] = {names.get(key, key): value for key, value in written.items()}
    if query.should is not None:
        fields[SHOULD] = query.should
    if query.split:
        fields.setdefault("split", query.split)
    return fields, {ours: key for key, ours in names.items() if key in written and key != ours}


def _case(query: QueryFile, case_id: str, skill_name: str, origin: Origin, *, name: str = "") -> Case:
    side = SHOULD if query.should_trigger else SHOULD_NOT
    return Case(
        id=case_id,
        name=name,
        description=query.reason,
        prompt=query.query,
        checks=(trigger_check(skill_name, query, origin),),
        repeat_rule=_repeat_rule(query),
        tags=(side, *((query.split, split_tag(query.split, side)) if query.split else ())),
        extras=_extras(query),
        origin=origin,
    )


def _repeat_rule(query: QueryFile) -> RepeatRule:
    """Return the share of sessions that have to go as the query wants: enough that fire, or few enough."""
    threshold = THRESHOLD if query.threshold is None else query.threshold
    if query.should_trigger:
        return RepeatRule(share=threshold, above=False)
    return RepeatRule(share=1 - threshold, above=True)


def split_tag(split: str, side: str) -> str:
    """The tag of the queries of one kind in one part of a set."""
    return f"{split}: {side}"


def trigger_check(skill_name: str, query: QueryFile, origin: Origin) -> Check:
    """The check of a query."""
    options: dict[str, Any] = {"skill": skill_name, "should_trigger": query.should_trigger}
    owner = query.expected_skill
    if owner and owner != skill_name:
        options["owner"] = owner
    if query.should_trigger and query.acceptable_skills:
        options["acceptable"] = [name for name in query.acceptable_skills if name != skill_name]
    if query.threshold is not None:
        options["threshold"] = query.threshold
    return Check(id=TRIGGER, scorer=TRIGGER, options=options, origin=origin)


def _extras(query: QueryFile) -> JsonObject:
    kept = query.model_dump(include={"expected_skill", "acceptable_skills", "split", "threshold", "reason"})
    keys = {key: value for key, value in kept.items() if value not in (None, "", ())}
    extras: dict[str, Any] = {
        "integer_id": True if isinstance(query.id, int) else None,
        "id": True if query.id is not None else None,
        "keys": {**keys, **(query.model_extra or {})} or None,
    }
    return {key: value for key, value in extras.items() if value is not None}
