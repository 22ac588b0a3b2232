"""Databases and processes for the tests."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore

CHILD = Path(__file__).with_name("child.py")


def _load(file: Path) -> ModuleType:
    """A module beside this one: with pytest's import mode `importlib`, tests cannot import each other."""
    spec = importlib.util.spec_from_file_location(f"skillgauge_store_sqlite_tests_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


builders = _load(Path(__file__).with_name("builders.py"))


class Child:
    """A process that works on a store and is told what to do line by line; see `child.py`."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def tell(self, line: str) -> None:
        """Give an order."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next line it says; empty once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """Kill it, if it still lives, and forget it."""
        self.process.kill()
        self.process.wait(timeout=30)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@pytest.fixture
def make() -> ModuleType:
    """The module `builders`."""
    return builders


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's database is."""
    return tmp_path / "runs.db"


@pytest.fixture
def store(path: Path) -> Callable[..., SqliteStore]:
    """Makes stores that share the test's database."""
    return lambda **settings: SqliteStore(SqliteOptions(location=str(path)), **settings)


@pytest.fixture
def child(path: Path) -> Iterator[Callable[[], Child]]:
    """Starts child processes that share the test's database, and kills what is left of them."""
    children: list[Child] = []

    def start() -> Child:
        children.append(Child(path))
        return children[-1]

    yield start
    for one in children:
        one.end()
