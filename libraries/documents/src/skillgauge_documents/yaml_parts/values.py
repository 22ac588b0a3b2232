"""YAML text: its value and its places, from the events of PyYAML's parser.

Values are made here instead of by PyYAML, because repeated keys, aliases and tags must be judged before anything is
built from them. They are made while the text is parsed: the graph of nodes from which PyYAML makes its values takes
several times their memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..faults import (
    MAX_DEPTH,
    DocumentError,
    Fault,
    duplicate_key,
    half_pair,
    has_half_pair,
    no_number,
    too_deep,
)
from ..values import EMPTY, JsonValue, freeze, sealed
from .events import TAG, events_of, loader_class, place_of, pyyaml, slip_at

MAX_ALIASED = 100_000
"""Most values that the aliases of one document may stand for."""
_MERGE = f"{TAG}merge"
_NO_PART = "only a mapping can be merged"


def yaml_value(text: str) -> JsonValue:
    """The value of a YAML text. Raises `DocumentError` with the place of every fault."""
    events = events_of(text)
    start = _first_of_document(events)
    if start is None:
        return None
    reader = _Reader(events)
    value: JsonValue = reader.value(start, 0)
    _require_end(events)
    reader.require_sound_aliases(start)
    if reader.faults:
        raise DocumentError(dict.fromkeys(reader.faults))  # of a key with an anchor some are found twice
    return value


def _first_of_document(events: Iterator[Any]) -> Any:
    """The event with which the value of the first document begins; `None` if there is no document."""
    yaml = pyyaml()
    before = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
    start = next(event for event in events if not isinstance(event, before))
    return None if isinstance(start, yaml.StreamEndEvent) else start


def _require_end(events: Iterator[Any]) -> None:
    """Raise `DocumentError` if a second document follows, or something that cannot be parsed."""
    for event in events:
        if isinstance(event, pyyaml().DocumentStartEvent):
            message = "a second document follows the first; one file holds one"
            raise DocumentError(Fault("multiple", message, *place_of(event)))


def _short(tag: str) -> str:
    return tag.replace(TAG, "!!", 1)


@dataclass(slots=True)
class _Anchored:
    """The values with an anchor, for the aliases that stand for them."""

    start: Any
    """The event with which it begins."""
    value: Any = None
    size: int = 1
    """Number of its values, once its own aliases are written out."""
    height: int = 0
    """Number of its levels, likewise."""
    is_open: bool = False
    """Whether it has not ended yet, so that an alias of it would stand for what contains the alias."""


class _Reader:
    """Makes JSON values from events, for a document nested no deeper than `MAX_DEPTH`.

    Args:
        events: those that follow the first one of the value.
    """

    def __init__(self, events: Iterator[Any]) -> None:
        self.faults: list[Fault] = []
        self._yaml = pyyaml()
        self._next = events.__next__
        self._loader = loader_class()("")
        self._anchors: dict[str, _Anchored] = {}
        self._wrong_alias: Fault | None = None
        """The first one; told only if the rest of the text can be parsed."""
        self._names: dict[str, str] = {}
        """Each key, which many mappings share."""
        self._written = self._size = self._height = 0
        """Number of values that are written, the same with those that aliases stand for, and of levels with these."""
        self._ignored = 0
        """Above zero where faults are of no interest, because nothing is made of what is read."""

    def require_sound_aliases(self, start: Any) -> None:
        """Raise `DocumentError` if an alias is wrong, or what all of them stand for is too much.

        Args:
            start: the first event of the document's value.
        """
        if self._wrong_alias:
            raise DocumentError(self._wrong_alias)
        if self._size > self._written + MAX_ALIASED:
            message = f"aliases stand for more than {MAX_ALIASED:,} values"
            raise DocumentError(Fault("alias", message, *place_of(start)))
        if self._height > MAX_DEPTH + 1:
            raise DocumentError(too_deep(*place_of(start)))

    def value(self, start: Any, depth: int) -> Any:
        """The value that begins with an event, inside of so many others; faults go to `faults`."""
        if type(start) is self._yaml.AliasEvent:
            return self._aliased(start, depth)
        self._written += 1
        self._size += 1
        if type(start) is self._yaml.ScalarEvent:
            return self._scalar(start)
        name, read = ("seq", self._items) if self._is_sequence(start) else ("map", self._members)
        if start.tag not in (None, "!", f"{TAG}{name}"):
            self._fault(start, f"tag {_short(start.tag)!r} is not supported")
        return self._collection(start, depth + 1, read)

    def _scalar(self, event: Any) -> Any:
        value = self._text(event) if self._is_plainly_text(event) else self._converted(event)
        if event.anchor is not None:
            self._anchored(event).value = value
        return value

    def _is_plainly_text(self, event: Any) -> bool:
        """Tell whether a scalar is a text, as most are, without looking at all of it."""
        may_mean = self._loader.yaml_implicit_resolvers  # by the first character
        return event.tag is None and not (event.implicit[0] and event.value[:1] in may_mean)

    def _converted(self, event: Any) -> Any:
        tag = self._tag_of(event)
        kind = tag.removeprefix(TAG)
        if kind in ("str", "value"):
            return self._text(event)
        if kind not in ("null", "bool", "int", "float"):
            return self._fault(event, f"tag {_short(tag)!r} is not supported")
        node = self._yaml.ScalarNode(tag, event.value)
        try:
            return freeze(getattr(self._loader, f"construct_yaml_{kind}")(node))
        except (ValueError, LookupError):  # infinite, far too long, or an explicit tag on text that does not fit
            self._add(no_number(event.value, *place_of(event)))
            return None

    def _tag_of(self, event: Any) -> str:
        if event.tag in (None, "!"):
            return str(self._loader.resolve(self._yaml.ScalarNode, event.value, event.implicit))
        return str(event.tag)

    def _text(self, event: Any) -> str:
        if has_half_pair(event.value):  # where libyaml is absent; it refuses them itself
            self._add(half_pair(*place_of(event)))
        return str(event.value)

    def _collection(self, start: Any, depth: int, read: Callable[[int], Any]) -> Any:
        if depth > MAX_DEPTH + 1:
            raise DocumentError(too_deep(*place_of(start)))
        if start.anchor is None:
            self._height = max(self._height, depth)
            return read(depth)
        anchored, size, height = self._anchored(start), self._size, self._height
        anchored.is_open, self._height = True, depth
        anchored.value = read(depth)
        anchored.is_open = False
        anchored.size, anchored.height = self._size - size + 1, self._height - depth + 1
        self._height = max(self._height, height)
        return anchored.value

    def _is_sequence(self, start: Any) -> bool:
        return type(start) is self._yaml.SequenceStartEvent

    def _items(self, depth: int) -> tuple[Any, ...]:
        items = []
        while type(event := self._next()) is not self._yaml.SequenceEndEvent:
            items.append(self.value(event, depth))
        return tuple(items)

    def _members(self, depth: int) -> JsonValue:
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while type(event := self._next()) is not self._yaml.MappingEndEvent:
            key = self._original(event)
            if type(key) is not self._yaml.ScalarEvent:
                self._fault(key, "a key must be plain text")
                self._ignore(event, depth)
                self._ignore(self._next(), depth)
                continue
            if event is key and key.anchor is not None:
                self._scalar(key)  # for its aliases
            if not self._is_plainly_text(key) and self._tag_of(key) == _MERGE:
                merged = {**self._merged(self._next(), depth), **merged}  # the one named first wins
                continue
            # Keys are the text as written: JSON has no others, and people mean `on` or `1` by on and 1.
            name = self._names.setdefault(key.value, self._text(key))
            if name in members:
                self._add(duplicate_key(name, *place_of(key)))
            members[name] = self.value(self._next(), depth)
        return sealed({**merged, **members} if merged else members)

    def _merged(self, start: Any, depth: int) -> Mapping[str, JsonValue]:
        """The members of what a merge key names: a mapping, or a list of some."""
        original = self._original(start)
        if not self._is_sequence(original):
            return self._part(start, depth)
        parts: tuple[Any, ...]
        if original is start:
            parts = self._collection(start, depth + 1, self._parts)
        else:
            parts = self._aliased(start, depth) or ()
        merged: dict[str, JsonValue] = {}
        for part in parts:
            if isinstance(part, Mapping):
                merged = {**part, **merged}
            else:
                self._fault(original, _NO_PART)
        return merged

    def _parts(self, depth: int) -> tuple[Mapping[str, JsonValue], ...]:
        parts = []
        while type(event := self._next()) is not self._yaml.SequenceEndEvent:
            parts.append(self._part(event, depth))
        return tuple(parts)

    def _part(self, start: Any, depth: int) -> Mapping[str, JsonValue]:
        original = self._original(start)
        if type(original) is self._yaml.MappingStartEvent:
            members: Mapping[str, JsonValue] = self.value(start, depth) or EMPTY
            return members
        self._fault(original, _NO_PART)
        self._ignore(start, depth)
        return EMPTY

    def _aliased(self, alias: Any, depth: int) -> Any:
        anchored = self._anchors.get(alias.anchor)
        if anchored is None:
            self._wrong_alias = self._wrong_alias or slip_at("found undefined alias", alias.start_mark)
            return None
        if anchored.is_open:
            fault = Fault("alias", "an alias stands for what contains it", *place_of(anchored.start))
            self._wrong_alias = self._wrong_alias or fault
        self._size += anchored.size
        self._height = max(self._height, depth + anchored.height)
        return anchored.value

    def _anchored(self, start: Any) -> _Anchored:
        """Take in what begins with an event and has an anchor."""
        if start.anchor in self._anchors:
            fault = slip_at("found duplicate anchor; first occurrence, second occurrence", start.start_mark)
            self._wrong_alias = self._wrong_alias or fault
        anchored = self._anchors[start.anchor] = _Anchored(start)
        return anchored

    def _original(self, event: Any) -> Any:
        """The first event of what an alias stands for, or the event itself."""
        if type(event) is self._yaml.AliasEvent and event.anchor in self._anchors:
            return self._anchors[event.anchor].start
        return event

    def _ignore(self, start: Any, depth: int) -> None:
        """Read what nothing is made of."""
        self._ignored += 1
        self.value(start, depth)
        self._ignored -= 1

    def _fault(self, event: Any, message: str) -> None:
        self._add(Fault("syntax", message, *place_of(event)))

    def _add(self, fault: Fault) -> None:
        if not self._ignored:
            self.faults.append(fault)
