"""Run the installed program as a user would, in a folder with skills."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CALCULATOR = Path(__file__).parents[4] / "examples/skills/calculator"
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
        return self.stderr.strip().splitlines()[-1]


Run = Callable[..., Done]
MakeSkill = Callable[..., Path]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(tmp_path: Path, work: Path) -> Run:
    """Run `skillgauge` in the work folder, with a home of its own and nothing else of this machine."""
    environment = {"HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}", "CI": "true"}
    environment["SKILLGAUGE_SANDBOX"] = "local"  # skills here leave their traces outside of what a strict one shows

    def call(*arguments: str | Path, **variables: str) -> Done:
        done = subprocess.run(
            [str(PROGRAM), *map(str, arguments)],
            cwd=work,
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def make_skill(work: Path) -> MakeSkill:
    """Copy the calculator to `skills/<place>`, with some keys of its skill.json changed."""

    def make(place: str, /, **changes: object) -> Path:
        folder = work / "skills" / place
        shutil.copytree(CALCULATOR, folder)
        file = folder / "skill.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"id": Path(place).name} | changes))
        return folder

    return make
