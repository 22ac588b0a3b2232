"""The gateway in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

SECRET = "made-up-secret-of-acme"
PROGRAM = Path(__file__).parents[1] / "gateway.py"


@dataclass(frozen=True)
class Gateway:
    """Where it listens."""

    port: int

    @property
    def options(self) -> dict[str, str]:
        """Of the judge."""
        address = f"http://127.0.0.1:{self.port}"
        return {"token_url": f"{address}/oauth/token", "base_url": f"{address}/v1"}

    def seen(self) -> dict[str, int]:
        """What was asked of it."""
        with urlopen(f"http://127.0.0.1:{self.port}/seen") as answer:
            return json.load(answer)


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """The gateway, and the secret that it knows."""
    monkeypatch.setenv("ACME_CLIENT_SECRET", SECRET)
    with subprocess.Popen([sys.executable, PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout
        yield Gateway(int(process.stdout.readline()))
        process.kill()
