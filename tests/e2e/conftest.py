"""Skills and tasks for the command line, which runs with nothing of this machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge.plugins.index import read_index
from skillgauge.plugins.kinds import SANDBOXES
from skillgauge.plugins.registry import Registry

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """No strict sandbox: skills here leave traces outside of what one shows; those of `test_confined` do not."""
    return environment | {"SKILLGAUGE_SANDBOX": "local"}


@pytest.fixture
def strongest(environment: dict[str, str]) -> None:
    """Lets the strongest sandbox be taken; skips where that is not bubblewrap."""
    try:
        report = asyncio.run(Registry(read_index()).make(SANDBOXES, "bubblewrap").check())
    except OSError as error:
        pytest.skip(str(error))
    if report.problems:
        pytest.skip(f"{report.problems[0].message} (make sandbox)")
    del environment["SKILLGAUGE_SANDBOX"]


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
