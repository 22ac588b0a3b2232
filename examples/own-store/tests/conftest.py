"""A service in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

TOKEN = "made-up-token-of-acme"
SERVICE = Path(__file__).parents[1] / "service.py"


@dataclass(frozen=True)
class Service:
    """Where it listens, and where its files lie."""

    port: int
    folder: Path

    def location(self, name: str = "team") -> str:
        """What `--store` names."""
        return f"acme-shelf://127.0.0.1:{self.port}/{name}"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The service, and a token that it knows."""
    monkeypatch.setenv("ACME_SHELF_TOKEN", TOKEN)
    folder = tmp_path / "shelf"
    folder.mkdir()
    with subprocess.Popen([sys.executable, SERVICE, folder], stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield Service(int(process.stdout.readline()), folder)
        process.kill()
