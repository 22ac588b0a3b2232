"""Run the installed program as a user would: a clean environment, a folder of its own, nothing of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).parent / "skillgauge"


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

    @property
    def verdict(self) -> str:
        """The last line on stderr."""
        lines = self.stderr.strip().splitlines()
        return lines[-1] if lines else ""


Run = Callable[..., Done]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the program sees: a home of its own and a search path, nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    # Skills here leave their traces outside of what a strict sandbox shows; `test_confined` is about those that do not.
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "CI": "true", "SKILLGAUGE_SANDBOX": "local"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(environment: dict[str, str], work: Path) -> Run:
    """Run `skillgauge` with some arguments; in the work folder unless another is given."""

    def call(*arguments: str | Path, cwd: Path = work, env: dict[str, str] | None = None, timeout: float = 120) -> Done:
        done = subprocess.run(
            [str(PROGRAM), *map(str, arguments)],
            cwd=cwd,
            env=environment | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


SKILL: dict[str, object] = {
    "id": "echo",
    "name": "Echo",
    "version": "1.0.0",
    "description": "Answers with what it was given.",
    "tags": ["test"],
    "inputSchema": {},
    "outputSchema": {},
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
    "metadata": {},
}
ECHO = """import json, sys
request = json.loads(sys.stdin.read())
answer = request["params"].get("say")
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer}))
"""

MakeSkill = Callable[..., Path]


@pytest.fixture
def make_skill(work: Path) -> MakeSkill:
    """Write a skill folder and return the path of its skill.json."""

    def make(code: str = ECHO, *, folder: str = "echo", **changes: object) -> Path:
        place = work / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "skill.py").write_text(code)
        path = place / "skill.json"
        path.write_text(json.dumps(SKILL | {"id": Path(folder).name} | changes))
        return path

    return make


def task(name: str, say: object, expect: object | None = None, **more: object) -> dict[str, object]:
    """A task of the echo skill."""
    expected = {"type": "exact", "value": say if expect is None else expect}
    return {"id": name, "description": name, "inputData": {"say": say}, "expectedOutput": expected, **more}


@pytest.fixture
def tasks(work: Path) -> Callable[..., Path]:
    """Write a tasks file and return its path."""

    def write(*items: dict[str, object], name: str = "tasks.json") -> Path:
        path = work / name
        path.write_text(json.dumps(list(items)))
        return path

    return write
