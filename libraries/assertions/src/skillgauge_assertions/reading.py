"""Values with their places, and what is wrong with a file or not used of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillgauge.api import (
    FrozenDict,
    JsonValue,
    Origin,
    Problem,
    Severity,
    SuiteError,
    did_you_mean,
    parse_document,
    read_document,
)
from skillgauge_skill_folders import bytes_of, contained

FILE = "file://"
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Node:
    """A value of a document, and where it stands."""

    value: JsonValue
    origin: Origin

    def at(self, key: str | int) -> Node:
        """A member of an object, or an item of a list; null where it is absent."""
        inner: JsonValue = None
        if isinstance(self.value, Mapping) and isinstance(key, str):
            inner = self.value.get(key)
        elif isinstance(self.value, tuple) and isinstance(key, int):
            inner = self.value[key]
        origin = self.origin
        return Node(inner, Origin(origin.file, (*origin.pointer, key), origin.place))

    def items(self) -> Iterator[Node]:
        """The items of a list."""
        if isinstance(self.value, tuple):
            yield from (self.at(index) for index in range(len(self.value)))

    def names(self) -> tuple[str, ...]:
        """The keys of an object."""
        return tuple(self.value) if isinstance(self.value, Mapping) else ()

    def has(self, key: str) -> bool:
        """Tell whether an object has a member that is not null."""
        return isinstance(self.value, Mapping) and self.value.get(key) is not None


@dataclass
class Reading:
    """One configuration with what is wrong with it."""

    root: Path
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    unused: dict[tuple[str, str], list[Origin]] = field(default_factory=dict)
    """Places of keys that have no effect, by what they are and what became of them."""

    def refuse(self, node: Node, message: str, hint: str | None = None, code: str = "suite.unsupported") -> None:
        """Note what cannot be done."""
        self.problems.append(Problem(code, message, origin=node.origin, hint=hint))

    def warn(self, node: Node, message: str, hint: str | None = None) -> None:
        """Tell what happens otherwise than with promptfoo."""
        problem = Problem("suite.ignored", message, origin=node.origin, hint=hint, severity=Severity.WARNING)
        self.warnings.append(problem)

    def keep(self, node: Node, key: str, became: str) -> None:
        """Count a key without an effect."""
        places = self.unused.setdefault((key, became), [])
        if node.origin not in places:  # one assertion is looked at for every case of its test
            places.append(node.origin)

    def told(self) -> tuple[Problem, ...]:
        """Warnings, with each unused key once for the file."""
        counted = (
            Problem(
                "suite.kept-key",
                f"{key}: {became}" + (f" ({len(places)} times)" if len(places) > 1 else ""),
                origin=places[0],
                severity=Severity.WARNING,
            )
            for (key, became), places in self.unused.items()
        )
        return (*self.warnings, *counted)

    def only(self, node: Node, supported: Mapping[str, str], reason: str) -> bool:
        """Look at every key of an object: `supported` says of each what becomes of it; empty: it is read.

        Of the others a reason that begins with `!` refuses the key.
        """
        if not isinstance(node.value, Mapping):
            self.refuse(node, f"{reason} has to be an object", code="suite.wrong-type")
            return False
        before = len(self.problems)
        for key in node.names():
            became = supported.get(key)
            if became is None:
                hint = "Nothing would read it; take it out."
                near = did_you_mean(key, list(supported))
                self.refuse(node.at(key), f"{reason} has no key {key!r}{near}", hint, "suite.unknown-key")
            elif became.startswith("!") and node.value[key] is not None:
                self.refuse(node.at(key), f"`{key}` of {reason} {became[1:].strip()}")
            elif became and not became.startswith("!"):
                self.keep(node.at(key), f"`{key}` of {reason}", became)
        return len(self.problems) == before

    def path(self, node: Node, written: str) -> Path | None:
        """The file that is named, which has to be in the configuration's folder."""
        path = contained(self.root, written.removeprefix(FILE))
        if path is None or not path.is_file():
            self.refuse(node, f"there is no file {written!r} in the configuration's folder", code="suite.missing-file")
            return None
        return path

    def text(self, node: Node, written: str) -> str:
        """The content of a file, or nothing where it cannot be read, which is noted."""
        if (path := self.path(node, written)) is None:
            return ""
        data = bytes_of(path, _MAX_BYTES)
        if data is None:
            self.refuse(node, f"{written!r} cannot be read, or is larger than {_MAX_BYTES:,} bytes")
            return ""
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.refuse(node, f"{written!r} cannot be read: {error}")
            return ""

    def document(self, node: Node, written: str) -> Node:
        """A YAML or JSON file that is named, as a value with places of its own; null where it is none."""
        if (path := self.path(node, written)) is None:
            return Node(None, node.origin)
        try:
            return Node(read_document(path).value, Origin(str(path)))
        except SuiteError as error:
            self.problems += error.problems
            return Node(None, node.origin)

    def lines(self, node: Node, written: str) -> Iterator[Node]:
        """The values of a file with one JSON value a line."""
        for number, line in enumerate(self.text(node, written).splitlines(), 1):
            place = Origin(str(self.root / written.removeprefix(FILE)), (), (number, 1))
            if line.strip():
                try:
                    yield Node(parse_document(line, file=place.file, kind="json").value, place)
                except SuiteError:
                    self.refuse(Node(None, place), "this line is no JSON value", code="suite.value")

    def rows(self, node: Node, written: str) -> Iterator[Node]:
        """The rows of a CSV file as objects of texts."""
        text = self.text(node, written)
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        names: list[str] = []
        line = 1
        try:
            for row in reader:
                place = Origin(str(self.root / written.removeprefix(FILE)), (), (line, 1))
                line = reader.line_num + 1
                if not names:
                    names = [name.strip() for name in row]
                elif len(row) != len(names):
                    self.refuse(Node(None, place), f"this row has {len(row)} fields, the first {len(names)}")
                elif any(row):
                    yield Node(FrozenDict(zip(names, row, strict=True)), place)
        except csv.Error as error:
            place = Origin(str(self.root / written.removeprefix(FILE)), (), (line, 1))
            self.refuse(Node(None, place), f"this is no CSV: {error}", code="suite.value")
