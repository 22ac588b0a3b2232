"""From one eval as it stands in a file to one under the names that its keys have here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skillgauge.api import Check, JsonObject, JsonValue, Origin, text_of

from ..checks.rules import text_or_pattern
from ..findings import Findings, OriginOf
from ..keys import BEARS_CHECKS, KEYS, OTHER_NAMES, Use, listed, snake_case
from .files import EvalFile, keys_of

Told = tuple[JsonValue, Origin]
"""What is asserted, and where it stands."""
_LISTS = ("expectations", "assertions")
_NOT_SO = "This is not so: {}"
_SECTION = "The answer has this section: {}"
_WORDS = 4
"""A longer text that must be there is prose, and nobody's answer has it word for word."""
_MARKS = frozenset("\\[]|^${}<>=`")
"""Signs of what is meant letter by letter, however long it is."""


@dataclass(frozen=True)
class Eval:
    """One eval, read."""

    file: EvalFile
    given: JsonObject
    """Its keys under the names that they have here, without those that became assertions."""
    where: OriginOf
    assertions: tuple[Told, ...]
    """In the order of the file."""
    called: tuple[Check, ...]
    """Whether scripts and pages of the skill were used: beside the verdict, since only one arm has them."""
    tags: tuple[str, ...]
    """What becomes a tag, beside `tags`."""


def read_eval(item: JsonValue, where: OriginOf, findings: Findings) -> Eval | None:
    """The eval, or `None` after noting what is wrong with it."""
    if not isinstance(item, Mapping):
        findings.error("wrong-type", "an eval must be an object", where(), _hint(item))
        return None
    fields, renamed = _renamed(item, where, findings)

    def renaming(*pointer: str | int) -> Origin:
        steps = renamed.get(str(pointer[0])) if pointer else None
        return where(*steps, *pointer[1:]) if steps else where(*pointer)

    keys = _Keys(fields, where, findings)
    for key in list(fields):
        keys.read(key)
    file = findings.validated(EvalFile, fields, renaming)
    if file is None:
        return None
    _note_extras(file, renaming, findings)
    return Eval(file, fields, renaming, tuple(keys.assertions), tuple(keys.called), tuple(keys.tags))


@dataclass
class _Keys:
    """The keys of an eval that stand for assertions, checks and tags, while they are read."""

    fields: dict[str, Any]
    """Keys that became assertions are taken out."""
    where: OriginOf
    findings: Findings
    assertions: list[Told] = field(default_factory=list)
    called: list[Check] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def read(self, key: str) -> None:
        """Take over all that one key says."""
        use, value = KEYS.get(key), self.fields[key]
        if key in _LISTS and isinstance(value, tuple):
            self.assertions += [(item, self.where(key, index)) for index, item in enumerate(value)]
        elif use in _ASSERTING and value is not None:
            self._note(key, use)
            self.assertions += _asserted(self.fields.pop(key), use, self.where, key)
        elif use is Use.CALLED:
            if value:
                self._note(key, use)
            self.called += _called(value, self.where(key))
        elif use is Use.TAG and isinstance(value, str) and value.strip():
            self._note(key, use)
            self.tags.append(f"{key}:{value.strip()}")
        elif use is Use.BASELINE:
            self._note(key, use)

    def _note(self, key: str, use: Use) -> None:
        self.findings.kept(key, use, self.where(key))


_ASSERTING = (Use.CLAIMS, Use.REFUTED, Use.SECTIONS, Use.SOUGHT, Use.EXCLUDED, Use.TOOLS, Use.NO_TOOLS)


def _renamed(
    item: JsonObject, where: OriginOf, findings: Findings
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Keys under the names that they have here, and what they were called."""
    fields, renamed = _in_snake_case(item)
    for alias, preferred in OTHER_NAMES.items():
        if alias not in fields or (alias in KEYS and isinstance(fields[alias], tuple | Mapping)):
            continue
        if preferred not in fields:
            fields[preferred] = fields.pop(alias)
            renamed[preferred] = renamed.pop(alias, (alias,))
            findings.other_name(alias, preferred, where(alias))
    _set_up(fields, renamed, where, findings)
    return fields, renamed


def _in_snake_case(item: JsonObject) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The keys of an eval as this format spells them where it knows them so, and what they were called."""
    fields: dict[str, Any] = {}
    renamed: dict[str, tuple[str, ...]] = {}
    for key, value in item.items():
        plain = snake_case(key)
        if plain != key and plain not in item and key not in OTHER_NAMES and plain in _KNOWN:
            renamed[plain] = (key,)
            fields[plain] = value
        else:
            fields[key] = value
    return fields, renamed


_KNOWN = frozenset((*keys_of(EvalFile), *KEYS, *OTHER_NAMES))
"""Keys of an eval that mean something here."""
_SET_UP = {"files": "files", "commands": "setup_commands", "copy_test_files": "copy_test_files"}
"""What an object `setup` may have, and what it is called here."""


def _set_up(fields: dict[str, Any], renamed: dict[str, tuple[str, ...]], where: OriginOf, findings: Findings) -> None:
    setup = fields.get("setup")
    if not isinstance(setup, Mapping):
        return
    rest = dict(setup)
    for key, preferred in _SET_UP.items():
        if key in rest and preferred not in fields:
            fields[preferred] = rest.pop(key)
            renamed[preferred] = ("setup", key)
            findings.kept(f"setup.{key}", Use.SETUP, where("setup", key))
    fields["setup"] = rest
    if not rest:
        del fields["setup"]


def _asserted(value: JsonValue, use: Use, where: OriginOf, key: str) -> Iterator[Told]:
    is_list = isinstance(value, tuple)
    for index, assertion in enumerate(listed(value)):
        origin = where(key, index) if is_list else where(key)
        if isinstance(assertion, str) and assertion.strip():
            yield _assertion(assertion, use), origin
        elif isinstance(assertion, Mapping) and use is Use.EXCLUDED:
            yield {**assertion, "negate": True}, origin
        else:
            yield assertion, origin


def _assertion(text: str, use: Use) -> JsonValue:
    text = text.strip()
    match use:
        case Use.REFUTED:
            return _NOT_SO.format(text)
        case Use.SECTIONS:
            return _SECTION.format(text)
        case Use.TOOLS:
            return {"text": f"{text} is called", "type": "tool-use", "value": text}
        case Use.NO_TOOLS:
            return {"text": f"{text} is not called", "type": "not-tool-use", "value": text}
        case Use.SOUGHT:
            if not _is_literal(text):
                return text
            return {"text": f"It has {text}", "type": "regex", "value": text_or_pattern(text)}
        case Use.EXCLUDED:
            if not _is_literal(text):
                return _NOT_SO.format(text)
            return {"text": f"It has no {text}", "type": "not-regex", "value": text_or_pattern(text)}
        case _:
            return text


def _is_literal(text: str) -> bool:
    """Tell whether a text is to be found as it stands, rather than a sentence about the answer."""
    return len(text.split()) <= _WORDS or bool(_MARKS & set(text))


def _called(value: JsonValue, origin: Origin) -> Iterator[Check]:
    for name in listed(value):
        if isinstance(name, str) and name.strip():
            options: JsonObject = {"words": (name.strip(),)}
            yield Check(id=f"{name.strip()} was used", scorer="tool-call", options=options, beside=True, origin=origin)


def _note_extras(file: EvalFile, where: OriginOf, findings: Findings) -> None:
    for key in file.model_extra or {}:
        use = KEYS.get(key)
        if use in (Use.CALLED, Use.TAG):
            continue
        if use is None and findings.is_misspelt(key, BEARS_CHECKS, where(key)):
            continue
        findings.kept(key, use or Use.NONE, where(key))


def _hint(item: JsonValue) -> str:
    text = text_of(item)
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return f"Write an object with 'prompt' and 'assertions' in place of {shown!r}."
