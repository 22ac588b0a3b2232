"""Schemas made ready: which draft, whether sound, and no reference that leads anywhere else.

Every validator has a registry of its own, which holds the published meta-schemas and can fetch nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlsplit

import jsonschema
from jsonschema import validators
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from skillgauge.api import JsonObject
from skillgauge_patterns import PatternError, compiled

from .keywords import SAFE, timed

DEFAULT_DRAFT = "http://json-schema.org/draft-07/schema"
_DRAFTS: Mapping[str, type[Validator]] = {
    str(draft.META_SCHEMA.get("$id", draft.META_SCHEMA.get("id"))).rstrip("#"): draft
    for draft in (
        jsonschema.Draft3Validator,
        jsonschema.Draft4Validator,
        jsonschema.Draft6Validator,
        jsonschema.Draft7Validator,
        jsonschema.Draft201909Validator,
        jsonschema.Draft202012Validator,
    )
}
_KEPT = 512
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DURATION = re.compile(r"P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.ASCII)

FORMATS = jsonschema.FormatChecker()
"""All formats of all drafts, as in eval-skills, where a draft-07 schema may ask for a `uuid` too."""
FORMATS.checkers |= jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers  # `time` was another in draft 3


@FORMATS.checks("regex", raises=PatternError)
def _is_regex(value: object) -> bool:
    return not isinstance(value, str) or bool(compiled(value))


@FORMATS.checks("duration")
def _is_duration(value: object) -> bool:
    return not isinstance(value, str) or _DURATION.fullmatch(value) is not None


def faults(schema: JsonObject) -> tuple[str, ...]:
    """Return the faults that keep a schema from being used, each with its place."""
    return _faults_of(json.dumps(schema))


def validator_of(schema: JsonObject) -> Validator:
    """A validator of a schema without faults. It looks at `keywords.deadline`, and threads may share it."""
    return _validator_of(json.dumps(schema))


def pointer(path: Any) -> str:
    """JSON pointer of a path, `/` for the whole value."""
    return "/" + "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in path)


# A check is bound anew for every trial, but its schema is the same; the text is the whole key, so that no `$id` counts.
@lru_cache(maxsize=_KEPT)
def _faults_of(text: str) -> tuple[str, ...]:
    plain: dict[str, Any] = json.loads(text)
    draft = _draft(plain)
    if draft is None:
        drafts = ", ".join(_DRAFTS)
        return (f"/$schema: {plain['$schema']!r} is no draft of JSON Schema that is known here; known are {drafts}",)
    return tuple(_shape_faults(draft, plain)) or tuple(_reference_faults(draft, plain))


@lru_cache(maxsize=_KEPT)
def _validator_of(text: str) -> Validator:
    plain: dict[str, Any] = json.loads(text)
    draft = _draft(plain)
    assert draft is not None
    return _timed(draft)(plain, registry=REGISTRY, format_checker=FORMATS)


def _draft(schema: Mapping[str, Any]) -> type[Validator] | None:
    named = schema.get("$schema", DEFAULT_DRAFT)
    if not isinstance(named, str):
        return None
    named = named.rstrip("#")
    # Both spellings of the scheme are in use, whatever the draft says.
    return _DRAFTS.get(named) or _DRAFTS.get(re.sub("^https:", "http:", named))


@cache
def _timed(draft: type[Validator]) -> type[Validator]:
    keywords = {name: timed(SAFE.get(name, keyword)) for name, keyword in draft.VALIDATORS.items()}
    validator: type[Validator] = validators.extend(draft, keywords)  # type: ignore[no-untyped-call]  # it has no types
    return validator


def _shape_faults(draft: type[Validator], schema: Any) -> Iterator[str]:
    meta = draft(draft.META_SCHEMA, registry=REGISTRY, format_checker=FORMATS)
    for error in meta.iter_errors(schema):
        yield f"{pointer(error.absolute_path)}: {error.message[:200]}"


def _reference_faults(draft: type[Validator], schema: dict[str, Any]) -> Iterator[str]:
    """Follow every reference, also those that no keyword of the draft leads to."""
    specification = specification_with(str(draft.META_SCHEMA["$schema"]))
    root = specification.create_resource(schema)
    pending = [(root, REGISTRY.resolver_with_root(root))]
    schemas_seen: set[int] = set()
    while pending:
        resource, resolver = pending.pop()
        contents = resource.contents
        if not isinstance(contents, Mapping) or id(contents) in schemas_seen:
            continue
        schemas_seen.add(id(contents))
        for reference in (contents[key] for key in _REFERENCES if isinstance(contents.get(key), str)):
            try:
                resolved = resolver.lookup(reference)
            except Unresolvable:
                remote = urlsplit(reference).scheme in ("http", "https")
                reason = "is elsewhere, and nothing is fetched" if remote else "leads to nothing inside the schema"
                yield f"reference {reference!r} {reason}; put what it means below `definitions` or `$defs`"
                continue
            yield from (f"reference {reference!r}: {fault}" for fault in _target_faults(draft, resolved.contents))
            pending.append((specification.create_resource(resolved.contents), resolved.resolver))
        pending += [(inner, resolver.in_subresource(inner)) for inner in resource.subresources()]


def _target_faults(draft: type[Validator], contents: Any) -> Iterator[str]:
    """A reference may lead to a place that the check of the whole schema did not take for a schema."""
    if isinstance(contents, Mapping | bool):
        yield from _shape_faults(draft, contents)
    else:
        yield "leads to something that is no schema"
