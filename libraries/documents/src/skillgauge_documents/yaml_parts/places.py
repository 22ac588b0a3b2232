"""Places and texts of the values in YAML text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..faults import MAX_DEPTH, DocumentError, Step
from .events import TAG, events_of, loader_class, place_of, pyyaml


class PlainText(NamedTuple):
    """A text without quotes, or the lack of one: a blank and `#` end it."""

    text: str
    end: int
    """Offset of what follows it."""


def yaml_nodes(text: str) -> Iterator[tuple[int, Step | None, tuple[int, int]]]:
    """Every value of the first document as depth, last step of its pointer, and place; the place is the key's.

    What an alias stands for is not entered: the alias is all that stands there. Faulty text has no nodes.
    """
    return ((depth, step, place) for depth, step, place, _ in _nodes(text))


def yaml_texts(text: str) -> Iterator[tuple[int, Step | None, PlainText | None]]:
    """As `yaml_nodes`, with texts in place of places: `None` for what is no text, or has quotes."""
    resolve, yaml = loader_class()("").resolve, pyyaml()
    for depth, step, _, event in _nodes(text):
        plain = None
        if isinstance(event, yaml.ScalarEvent) and event.tag is None and event.implicit[0]:
            is_text = not event.value or resolve(yaml.ScalarNode, event.value, event.implicit) == f"{TAG}str"
            plain = PlainText(event.value, event.end_mark.index) if is_text else None
        yield depth, step, plain


def _nodes(text: str) -> Iterator[tuple[int, Step | None, tuple[int, int], Any]]:
    """Yield each value as `yaml_nodes` does, with the event by which it begins."""
    if not _is_sound(text):
        return
    yaml = pyyaml()
    inside: list[Step | None] = []  # per open collection: index of the item, or key of the member once it is read
    key_at, anchors = (0, 0), dict[str, Any]()
    events = events_of(text)
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            del inside[-1]
        elif isinstance(event, yaml.NodeEvent):
            begins = isinstance(event, yaml.CollectionStartEvent)
            original = anchors.setdefault(event.anchor, event) if event.anchor else event
            if inside and inside[-1] is None:
                inside[-1], key_at = str(getattr(original, "value", "")), place_of(original)
                if begins:
                    _pass_over(events)
                continue
            step = inside[-1] if inside else None
            yield len(inside), step, key_at if isinstance(step, str) else place_of(original), event
            if begins:
                inside.append(0 if isinstance(event, yaml.SequenceStartEvent) else None)
                continue
        elif isinstance(event, yaml.DocumentEndEvent):
            return
        inside[-1:] = map(_following, inside[-1:])


def _following(step: Step | None) -> Step | None:
    """Return the step after a value: the next item, or a member whose key is not read yet."""
    return step + 1 if isinstance(step, int) else None


def _pass_over(events: Iterator[Any]) -> None:
    """Read on to the end of a collection that has begun."""
    yaml = pyyaml()
    depth = 1
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)


def _is_sound(text: str) -> bool:
    """Tell whether the first document of a text can be parsed, is not nested too deeply, and has sound aliases."""
    yaml = pyyaml()
    depth, anchors = 0, set[str]()
    try:
        for event in events_of(text):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            anchor = getattr(event, "anchor", None)
            is_unsound = anchor is not None and isinstance(event, yaml.AliasEvent) != (anchor in anchors)
            if depth > MAX_DEPTH + 1 or is_unsound:
                return False
            if isinstance(event, yaml.DocumentEndEvent):
                break
            anchors.add(anchor or "")
    except DocumentError:
        return False
    return True
