"""A stand-in for the program, since few machines that run tests have a daemon."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

STAND_IN = Path(__file__).parent / "stand_in.py"


@dataclass(frozen=True)
class StandIn:
    """The stand-in and what it knows."""

    state: Path

    @property
    def program(self) -> str:
        """What to call."""
        return str(self.state.with_name("docker"))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Arguments and environment of each call."""
        journal = self.state / "journal"
        return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []

    def of(self, name: str) -> list[list[str]]:
        """Arguments of the calls of a kind."""
        return [call["argv"] for call in self.calls if call["argv"][0] == name]

    @property
    def containers(self) -> list[dict[str, Any]]:
        """What there is now."""
        found = []
        for path in (self.state / "containers").glob("[!.]*"):
            with suppress(FileNotFoundError):  # removed meanwhile
                found.append(json.loads(path.read_text()))
        return found

    @property
    def is_busy(self) -> bool:
        """Whether a call goes on, or a process in a container."""
        made = {f"STAND_IN_CONTAINER={dict(pairwise(words))['--name']}".encode() for words in self.of("run")}
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (place / "cmdline").read_bytes().split(b"\0")
                if self.program.encode() in words or made.intersection((place / "environ").read_bytes().split(b"\0")):
                    return True
        return False

    def set(self, name: str) -> None:
        """Have it behave otherwise than it does by itself; its text says what there is."""
        self.state.mkdir(exist_ok=True)
        (self.state / name).touch()


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A fresh one, which nothing was asked of yet."""
    state = tmp_path / "daemon"
    monkeypatch.setenv("DOCKER_STAND_IN", str(state))
    program = state.with_name("docker")
    program.write_text(f"#!{sys.executable} -IS\n{STAND_IN.read_text()}")  # starts in half the time
    program.chmod(0o755)
    monkeypatch.setattr("skillgauge_sandbox_docker.sandbox._tiers", {})
    return StandIn(state)
