"""The cloud in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

TOKEN = "made-up-token-of-acme"
PROGRAM = Path(__file__).parents[1] / "service.py"


@dataclass(frozen=True)
class Service:
    """Where it listens."""

    port: int

    @property
    def url(self) -> str:
        """Of its API."""
        return f"http://127.0.0.1:{self.port}"

    def workspaces(self) -> list[str]:
        """Those that are there."""
        with urlopen(Request(f"{self.url}/workspaces", headers={"authorization": f"Bearer {TOKEN}"})) as answer:
            return json.load(answer)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The cloud, and a token that it knows."""
    monkeypatch.setenv("ACME_CLOUD_TOKEN", TOKEN)
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield Service(int(process.stdout.readline()))
        process.kill()
