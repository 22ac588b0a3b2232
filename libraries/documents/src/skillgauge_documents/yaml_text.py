"""YAML text: its value and its places, from PyYAML's node graph.

Values are made from the nodes here instead of by PyYAML, because repeated keys, aliases and tags must be judged
before anything is built from them, and because nodes know their places.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from .faults import (
    MAX_DEPTH,
    DocumentError,
    Fault,
    Step,
    duplicate_key,
    half_pair,
    has_half_pair,
    no_number,
    place_at,
    too_deep,
)
from .slips import next_step_in_yaml
from .values import JsonValue, freeze

MAX_ALIASED = 100_000
"""Most values that the aliases of one document may stand for."""
_TAG = "tag:yaml.org,2002:"


def yaml_value(text: str) -> JsonValue:
    """The value of a YAML text. Raises `DocumentError` with the place of every fault."""
    root = _compose(text, alone=True)
    if root is None:
        return None
    if "&" in text and "*" in text:
        weights: dict[int, tuple[int, int]] = {}
        size, height = _weigh(root, weights, set())
        if size > len(weights) + MAX_ALIASED:
            message = f"aliases stand for more than {MAX_ALIASED:,} values"
            raise DocumentError(Fault("alias", message, *_place(root)))
        if height > MAX_DEPTH + 1:
            raise DocumentError(too_deep(*_place(root)))
    builder = _Builder()
    value = builder.build(root)
    if builder.faults:
        raise DocumentError(dict.fromkeys(builder.faults))  # what aliases share is built, and faulty, more than once
    return freeze(value)


def yaml_nodes(text: str) -> Iterator[tuple[int, Step | None, tuple[int, int]]]:
    """Every value of the first document as depth, last step of its pointer, and place; the place is the key's.

    What an alias stands for is not entered: the alias is all that stands there. Faulty text has no nodes.
    """
    try:
        root = _compose(text, alone=False)
    except DocumentError:
        return
    entered: set[int] = set()
    todo: list[tuple[int, Step | None, tuple[int, int], Any]] = [(0, None, _place(root), root)] if root else []
    while todo:
        depth, step, place, node = todo.pop()
        yield depth, step, place
        if node.id != "scalar" and id(node) not in entered:
            entered.add(id(node))
            members = node.value if node.id == "mapping" else [(None, item) for item in node.value]
            inside: list[tuple[int, Step | None, tuple[int, int], Any]] = [
                (depth + 1, str(key.value) if key else index, _place(key or item), item)
                for index, (key, item) in enumerate(members)
            ]
            todo += reversed(inside)


def _tag(node: Any) -> str:
    return str(node.tag).replace(_TAG, "!!", 1)


def _place(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


@cache
def _loader_class() -> Any:
    """PyYAML's fastest loader without timestamps: a date stays the text that it is in JSON."""
    import yaml  # noqa: PLC0415 - only YAML files should cost this import

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag != f"{_TAG}timestamp"]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    return type("JsonLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def _compose(text: str, *, alone: bool) -> Any:
    """The node graph of the first document; whether anything may follow it depends on `alone`."""
    loader_class = _loader_class()
    import yaml  # noqa: PLC0415 - as above

    try:
        depth = documents = 0
        for event in yaml.parse(text, loader_class):
            # PyYAML composes by recursion in C, which deep nesting would crash.
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH + 1:
                raise DocumentError(too_deep(*_place(event)))
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                message = "a second document follows the first; one file holds one"
                raise DocumentError(Fault("multiple", message, *_place(event)))
            if isinstance(event, yaml.DocumentEndEvent) and not alone:
                break
        loader = loader_class(text)
        return loader.get_node() if loader.check_node() else None
    except yaml.reader.ReaderError as error:
        odd = yaml.reader.Reader.NON_PRINTABLE.search(text)
        place = place_at(text, odd.start() if odd else 0)
        message = "contains a control character, which YAML forbids"
        raise DocumentError(Fault("syntax", message, *place)) from error
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        hint = next_step_in_yaml(message)
        raise DocumentError(Fault("syntax", message, mark.line + 1, mark.column + 1, hint)) from error


def _weigh(node: Any, weights: dict[int, tuple[int, int]], inside: set[int]) -> tuple[int, int]:
    """Number of values and levels that a node has once its aliases are written out."""
    if id(node) in inside:
        raise DocumentError(Fault("alias", "an alias stands for what contains it", *_place(node)))
    if id(node) not in weights:
        size, height = 1, 0
        inside.add(id(node))
        children = [] if node.id == "scalar" else node.value
        for child in [value for _, value in children] if node.id == "mapping" else children:
            its_size, its_height = _weigh(child, weights, inside)
            size, height = size + its_size, max(height, its_height)
        inside.discard(id(node))
        weights[id(node)] = (size, height + (node.id != "scalar"))
    return weights[id(node)]


class _Builder:
    """Makes JSON values from nodes whose depth and number are known to be bounded."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._convert = _loader_class()("")

    def build(self, node: Any) -> Any:
        """The value of a node; faults go to `faults`."""
        if node.id == "scalar":
            return self._scalar(node)
        if node.tag != f"{_TAG}{'seq' if node.id == 'sequence' else 'map'}":
            self._fault(node, f"tag {_tag(node)!r} is not supported")
        if node.id == "sequence":
            return [self.build(item) for item in node.value]
        members: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, item in node.value:
            if key.id != "scalar":
                self._fault(key, "a key must be plain text")
            elif key.tag == f"{_TAG}merge":
                for part in item.value if item.id == "sequence" else [item]:
                    if part.id == "mapping":
                        merged = {**self.build(part), **merged}  # the one named first wins
                    else:
                        self._fault(part, "only a mapping can be merged")
            else:
                # Keys are the text as written: JSON has no others, and people mean `on` or `1` by on and 1.
                if key.value in members:
                    self.faults.append(duplicate_key(key.value, *_place(key)))
                members[self._text(key)] = self.build(item)
        return {**merged, **members}

    def _scalar(self, node: Any) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind in ("str", "value"):
            return self._text(node)
        if kind not in ("null", "bool", "int", "float"):
            return self._fault(node, f"tag {_tag(node)!r} is not supported")
        try:
            return freeze(getattr(self._convert, f"construct_yaml_{kind}")(node))
        except (ValueError, LookupError):  # infinite, far too long, or an explicit tag on text that does not fit
            self.faults.append(no_number(node.value, *_place(node)))
            return None

    def _text(self, node: Any) -> str:
        if has_half_pair(node.value):  # where libyaml is absent; it refuses them itself
            self.faults.append(half_pair(*_place(node)))
        return str(node.value)

    def _fault(self, node: Any, message: str) -> None:
        self.faults.append(Fault("syntax", message, *_place(node)))
