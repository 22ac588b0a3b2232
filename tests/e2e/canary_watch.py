"""Looks for canaries: in every process of the machine at moments when it is sure who is alive, and in every file."""

from __future__ import annotations

import base64
import binascii
import os
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

GATE = "mkfifo gate-{name} && timeout 60 cat gate-{name} > /dev/null"
"""A shell command that waits in its workspace until it was seen, which removes the gate."""
_EVERY_S = 0.02
_GZIP = re.compile(rb"\x1f\x8b\x08")
_GZIP_IN_BASE64 = re.compile(rb"H4sI[A-Za-z0-9+/]{16,}={0,2}")
_PIECE = 24
"""Characters of a canary's end that must not be there either."""


@dataclass(frozen=True)
class Seen:
    """A process, and which canaries it has by name."""

    pid: int
    parent: int
    program: str
    """Name of what it runs, without folder."""
    command: str
    in_environment: frozenset[str]
    in_command: frozenset[str]


class CanaryWatch:
    """Looks at all processes whenever a command waits at a gate, or when it is told to.

    Canaries are made up anew for each test, so who has one belongs to it.

    Args:
        canaries: name to value.
        temporary: where the workspaces are.
    """

    def __init__(self, canaries: Mapping[str, str], temporary: Path) -> None:
        self._canaries = canaries
        self._temporary = temporary
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._open_gates)
        self.moments: dict[str, list[list[Seen]]] = {}
        """What was seen, by the name of the moment."""

    def __enter__(self) -> CanaryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        self._thread.join()

    def look(self, moment: str) -> None:
        """Look at all processes now."""
        self.moments.setdefault(moment, []).append(list(self._processes()))

    def at(self, moment: str) -> list[Seen]:
        """Every process of a moment, however often it came."""
        return [one for look in self.moments[moment] for one in look]

    def holders(self, canary: str, *moments: str) -> set[str]:
        """Programs that had a canary in their environment at some moments, or at any."""
        return {
            one.program for moment in moments or self.moments for one in self.at(moment) if canary in one.in_environment
        }

    def _open_gates(self) -> None:
        while not self._end.wait(_EVERY_S):
            gates: list[Path] = []
            with suppress(OSError):  # a workspace was removed meanwhile
                gates = list(self._temporary.glob("skillgauge-*/w*/work/gate-*"))
            for gate in gates:
                with suppress(OSError):  # nothing waits at it yet
                    descriptor = os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
                    try:
                        self.look(gate.name.removeprefix("gate-"))
                        gate.unlink(missing_ok=True)
                    finally:
                        os.close(descriptor)

    def _processes(self) -> Iterator[Seen]:
        for folder in Path("/proc").glob("[0-9]*"):
            if int(folder.name) == os.getpid():
                continue  # has made them up
            with suppress(OSError):  # it is gone
                environment, command = (folder / "environ").read_bytes(), (folder / "cmdline").read_bytes()
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                program = (folder / "exe").readlink().name
                text = command.replace(b"\0", b" ").decode(errors="replace")
                told, said = self._in(environment), self._in(command)
                yield Seen(int(folder.name), parent, program, text, told, said)

    def _in(self, content: bytes) -> frozenset[str]:
        return frozenset(name for name, value in self._canaries.items() if value.encode() in content)


def files_with(canaries: Mapping[str, str], folder: Path) -> list[tuple[str, str]]:
    """Canaries in files below a folder, compressed ones and the rows of databases included: name and path."""
    found = []
    for path in sorted(folder.rglob("*")):
        contents = [os.fsencode(path.name)]
        if path.is_symlink():
            contents.append(os.fsencode(path.readlink()))
        elif path.is_file():
            contents += _contents(path)
        found += [(name, str(path)) for name, value in canaries.items() if _is_in(value, contents)]
    return found


def _is_in(value: str, contents: list[bytes]) -> bool:
    code = value.encode()
    encoded = {base64.b64encode(bytes(offset) + code)[4:-4] for offset in range(3)}
    return any(form in content for content in contents for form in (code[-_PIECE:], *encoded))


def _contents(path: Path) -> list[bytes]:
    content = path.read_bytes()
    contents = [content]
    if content.startswith(b"SQLite format 3\0"):
        contents += _rows(path)
    for text in list(contents):
        contents += [_unpacked(text[found.start() :], 31) for found in _GZIP.finditer(text)]
        for found in _GZIP_IN_BASE64.finditer(text):
            with suppress(binascii.Error):
                contents.append(_unpacked(base64.b64decode(found[0]), 31))
        if text[:1] == b"\x78":
            contents.append(_unpacked(text, 15))
    return contents


def _rows(path: Path) -> Iterator[bytes]:
    """Every value of a database, since in the file one may be cut by the end of a page."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{table}"'):
                yield from (value if isinstance(value, bytes) else str(value).encode() for value in row)


def _unpacked(content: bytes, kind: int) -> bytes:
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=kind).decompress(content)
    return b""
