"""Lines as a user pastes them into a terminal, and what a test of programs needs."""

from __future__ import annotations

import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import pytest

from skillgauge_testkit.program import Done

Shell = Callable[[str], Done]


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
