"""Run the installed program as a user would: a clean environment, a folder of its own, nothing of this machine."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)


Run = Callable[..., Done]
Shell = Callable[[str], Done]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the program sees: a home of its own and a search path, nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "CI": "true"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def shell(environment: dict[str, str], work: Path) -> Shell:
    """Run a line as a user would paste it into a terminal."""

    def call(line: str) -> Done:
        done = subprocess.run(
            line,
            shell=True,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def run(environment: dict[str, str], work: Path) -> Run:
    """Run `skillgauge` with some arguments."""

    def call(*arguments: str | Path) -> Done:
        done = subprocess.run(
            [str(PROGRAMS / "skillgauge"), *map(str, arguments)],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: contents of files, `None` for folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@contextmanager
def started(line: str, *, cwd: Path, env: dict[str, str]) -> Iterator[str]:
    """Start a program with a line of a shell; gives the first line that it writes, and ends it in the end."""
    process = subprocess.Popen(
        shlex.split(line), cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    first: Queue[str] = Queue()
    assert process.stdout
    reader = Thread(target=lambda stream: first.put(stream.readline()), args=(process.stdout,), daemon=True)
    reader.start()
    try:
        yield first.get(timeout=30)
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        process.stdout.close()


def unused_port() -> int:
    """A port at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
