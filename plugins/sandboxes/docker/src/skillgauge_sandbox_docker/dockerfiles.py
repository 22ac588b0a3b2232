"""Reads a Dockerfile for the images that its build would take, and for what a stranger's may not ask for.

Builders differ: some read here-documents, fetch another reader that a comment names, or end a line where others go on.
So a stranger's Dockerfile may hold nothing that two of them could read in two ways, and only instructions and options
that are known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_ALLOWED = frozenset(
    {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"}
)
_ALLOWED |= {"RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}
_COPY_OPTIONS = frozenset({"--from", "--chown", "--chmod", "--link"})
_OPTION = re.compile(r"(--[a-z]+)(?:=([\w./:@,+-]*))?")
_STAGE = re.compile(r"[a-z][a-z0-9._-]*")
_DIRECTIVE = re.compile(r"#\s*(syntax|escape)\s*=", re.IGNORECASE)
_HERE_DOCUMENT = re.compile(r"(?<!<)<<[^\s<]")
_CONTINUED = re.compile(r"\\[ \t]*$")
_TWICE = re.compile(r"\\\\[ \t]*$")
_EMPTY = "scratch"


@dataclass(frozen=True)
class Refusal:
    """Something that the build of a stranger's Dockerfile may not do."""

    line: int
    """From 1."""
    reason: str
    is_image: bool = False
    """Whether it is the name of an image, which the user could allow."""


@dataclass
class Reading:
    """The result of reading a Dockerfile."""

    images: dict[str, int] = field(default_factory=dict)
    """Names of the images that the build takes, each with the line that names it first."""
    refusals: list[Refusal] = field(default_factory=list)
    _stages: list[str] = field(default_factory=list)
    _line: int = 0

    def refusals_for(self, allowed: Sequence[str]) -> list[Refusal]:
        """Return everything that keeps a stranger's Dockerfile from being built of some images, in its order."""
        others = [
            Refusal(line, f"takes image {name!r}", is_image=True)
            for name, line in self.images.items()
            if name not in allowed
        ]
        return sorted([*self.refusals, *others], key=lambda refusal: refusal.line)

    def add(self, line: int, instruction: str) -> None:
        """Take a whole instruction, continued lines joined."""
        self._line = line
        keyword, _, rest = instruction.replace("\t", " ").strip().partition(" ")
        keyword, options, words = keyword.upper(), *_split(rest)
        if keyword not in _ALLOWED:
            advice = "; write COPY" if keyword == "ADD" else ""
            self.refuse(line, f"has the instruction {keyword[:40]!r}, which is not allowed{advice}")
        if keyword == "FROM":
            self._begin_stage(options, words)
        elif keyword == "COPY":
            self._copy(options)
        elif keyword == "RUN" and options:
            self.refuse(line, f"runs a command with the option {options[0][:40]!r}")
        if keyword in ("RUN", "COPY", "ADD") and _HERE_DOCUMENT.search(rest):
            self.refuse(line, "has a here-document, which not every builder reads alike")

    def refuse(self, line: int, reason: str) -> None:
        """Add a reason."""
        self.refusals.append(Refusal(line, reason))

    def _begin_stage(self, options: list[str], words: list[str]) -> None:
        if options:
            self.refuse(self._line, f"begins a stage with the option {options[0][:40]!r}")
        name = words[0] if words else ""
        self._take(name)
        alias = words[2].lower() if len(words) == 3 and words[1].upper() == "AS" else ""
        if len(words) != 1 and not _STAGE.fullmatch(alias):
            self.refuse(self._line, "begins a stage in another way than `FROM image` or `FROM image AS name`")
        self._stages.append(alias)

    def _copy(self, options: list[str]) -> None:
        for word in options:
            option = _OPTION.fullmatch(word)
            if option is None or option[1] not in _COPY_OPTIONS:
                self.refuse(self._line, f"copies with the option {word[:40]!r}")
            if word.startswith("--from="):
                self._take(word.removeprefix("--from="), by_number=True)

    def _take(self, name: str, *, by_number: bool = False) -> None:
        """Take the files of an image, unless an earlier stage is meant."""
        is_number = by_number and name.isascii() and name.isdecimal() and int(name) < len(self._stages) - 1
        if "$" in name:
            self.refuse(self._line, f"names an image by a variable, {name[:80]!r}")
        elif name != _EMPTY and name.lower() not in filter(None, self._stages) and not is_number:
            self.images.setdefault(name, self._line)


def read_dockerfile(text: str) -> Reading:
    """Read a Dockerfile; nothing in it is carried out."""
    reading = Reading()
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if not all(sign.isprintable() or sign == "\t" for sign in line):
            reading.refuse(number, "has signs that cannot be printed")
        if _DIRECTIVE.match(line.strip()):
            reading.refuse(number, "has a directive that changes how it is read")
        if _TWICE.search(line):
            reading.refuse(number, "has two backslashes at its end, which not every builder reads alike")
    for number, instruction in _instructions(lines, reading):
        reading.add(number, instruction)
    return reading


def _instructions(lines: Sequence[str], reading: Reading) -> Iterator[tuple[int, str]]:
    """Return each instruction with the number of its first line."""
    began, parts = 0, list[str]()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("#"):
            if parts and not line.startswith("#"):
                reading.refuse(number, "has an indented comment in an instruction, which not every builder reads alike")
            continue
        if not text:
            continue
        began = began if parts else number
        parts.append(_CONTINUED.sub("", line))
        if not _CONTINUED.search(line):
            yield began, "".join(parts)
            parts = []
    if parts:
        yield began, "".join(parts)


def _split(rest: str) -> tuple[list[str], list[str]]:
    """Split what follows a keyword into options, which come first, and words."""
    words = rest.split()
    first = next((at for at, word in enumerate(words) if not word.startswith("--")), len(words))
    return words[:first], words[first:]
