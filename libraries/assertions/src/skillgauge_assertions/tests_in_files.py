"""Tests that are written in files of their own, and the variables of a test."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from skillgauge.api import FrozenDict, JsonValue

from .reading import FILE, Node, Reading
from .rules import TYPES

_EXPECTED = re.compile(r"__expected(\d*)")
_COLUMNS = ("__description", "__threshold", "__metric", "__prefix", "__suffix")


def written_tests(reading: Reading, node: Node) -> Iterator[Node]:
    """The tests as they are written, here or in files."""
    if isinstance(node.value, str):
        yield from _of_file(reading, node, node.value)
    elif isinstance(node.value, tuple):
        for item in node.items():
            yield from written_tests(reading, item) if isinstance(item.value, str) else (item,)
    elif isinstance(node.value, Mapping) and "path" in node.value:
        reading.refuse(node, "a generator of tests is not run", "Write the tests out into a file and name that.")
    elif node.value is not None:
        reading.refuse(node, "tests are a list, or the name of a file with them", code="suite.wrong-type")


def _of_file(reading: Reading, node: Node, written: str) -> Iterator[Node]:
    place = written.removeprefix(FILE)
    if "*" in place:
        places = list(_matching(reading.root, PurePosixPath(place).parts))
        if not places:
            message = f"no file in the configuration's folder is called {written!r}"
            reading.refuse(node, message, code="suite.missing-file")
        for path in places:
            yield from _of_file(reading, node, path)
    elif place.endswith(".csv"):
        yield from (_of_row(reading, row) for row in reading.rows(node, place))
    elif place.endswith(".jsonl"):
        yield from reading.lines(node, place)
    elif place.endswith((".yaml", ".yml", ".json")):
        document = reading.document(node, place)
        yield from document.items() if isinstance(document.value, tuple) else (document,)
    else:
        hint = "Name a file of .yaml, .json, .jsonl or .csv in the configuration's folder."
        reading.refuse(node, f"tests are not taken from {written!r}", hint)


def _matching(root: Path, pattern: Sequence[str]) -> list[str]:
    """Files of a folder, sorted. Every folder below it is entered once, whatever the pattern, and none by a link."""
    matching = []
    for folder, inner, files in os.walk(root):
        inner[:] = [name for name in inner if name != ".git"]
        here = PurePosixPath(os.path.relpath(folder, root))
        matching += [str(here / name) for name in files if _matches((here / name).parts, pattern)]
    return sorted(matching)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path matches a pattern, where `**` stands for any folders; linear in both."""
    places = {0}
    for part in pattern:
        if part == "**":
            places = set(range(min(places), len(parts) + 1)) if places else places
        else:
            places = {at + 1 for at in places if at < len(parts) and fnmatchcase(parts[at], part)}
    return len(parts) in places


def _of_row(reading: Reading, row: Node) -> Node:
    """A row of a table as a test: columns are variables but for those that begin with two underscores."""
    columns = row.value if isinstance(row.value, Mapping) else {}
    values: dict[str, JsonValue] = {}
    test: dict[str, JsonValue] = {}
    asserted: list[JsonValue] = []
    options: dict[str, JsonValue] = {}
    metric = columns.get("__metric")
    for name, written in columns.items():
        text = str(written)
        if not name.startswith("__"):
            values[name] = text
        elif not text.strip():
            continue
        elif _EXPECTED.fullmatch(name):
            asserted.append(_from_text(text, metric))
        elif name in ("__prefix", "__suffix"):
            options[name[2:]] = text
        elif name == "__threshold":
            test["threshold"] = _as_number(text)
        elif name == "__description":
            test["description"] = text
        elif name not in _COLUMNS:
            reading.refuse(row, f"the column {name!r} is not supported", f"Known: __expected, {', '.join(_COLUMNS)}.")
    test |= {"vars": FrozenDict(values), "assert": tuple(asserted), "options": FrozenDict(options)}
    return Node(FrozenDict(test), row.origin)


_TYPED = re.compile(r"((?:not-)?[a-z][a-z-]*(?::[a-z-]+)?)(?:\(([\d.]+)\))?:\s*(.*)", re.DOTALL)


def _from_text(text: str, metric: JsonValue) -> JsonValue:
    """`type: value` or `type(threshold): value`; what has no type of promptfoo has to be equal."""
    written = text.strip()
    assertion: dict[str, JsonValue] = {"type": "equals", "value": text}
    if written in TYPES:
        assertion = {"type": written}
    elif (match := _TYPED.fullmatch(written)) and match[1] in TYPES:
        assertion = {"type": match[1], "value": match[3]}
        if match[2]:
            assertion["threshold"] = _as_number(match[2])
    return FrozenDict(assertion | ({"metric": metric} if metric else {}))


def _as_number(text: str) -> JsonValue:
    try:
        return float(text)
    except ValueError:
        return text


def variables(reading: Reading, node: Node) -> dict[str, Node]:
    """Variables by name, those of a file among them; a value that names a file is its content."""
    if isinstance(node.value, str):
        node = reading.document(node, node.value)
    if node.value is None:
        return {}
    if not isinstance(node.value, Mapping):
        reading.refuse(node, "vars are an object of names and values", code="suite.wrong-type")
        return {}
    return {name: _value(reading, node.at(name)) for name in node.names()}


def _value(reading: Reading, node: Node) -> Node:
    written = node.value
    if not isinstance(written, str) or not written.startswith(FILE):
        return node
    if written.endswith((".json", ".yaml", ".yml")):
        return Node(reading.document(node, written).value, node.origin)
    if written.endswith((".txt", ".md", ".csv", ".html", ".xml")):
        return Node(reading.text(node, written), node.origin)
    hint = "Name a text, or a .json or .yaml file."
    reading.refuse(node, f"a variable that code makes, or that is no text, is not read: {written!r}", hint)
    return Node(None, node.origin)
