"""Evaluations to look back at, and databases of the original."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge_testkit.program import Done, Program

SKILL = {
    "id": "echo",
    "name": "Echo",
    "version": "1.0.0",
    "description": "Answers with what it was given.",
    "adapterType": "subprocess",
    "entrypoint": "python3 skill.py",
}
ECHO = """import json, sys
request = json.load(sys.stdin)
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["say"]}))
"""


def _load(file: Path) -> ModuleType:
    """A module beside this one: with pytest's import mode `importlib`, tests cannot import each other."""
    spec = importlib.util.spec_from_file_location(f"skillgauge_command_history_tests_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def original() -> ModuleType:
    """The module `original_database`."""
    return _load(Path(__file__).with_name("original_database.py"))


@pytest.fixture
def evaluate(program: Program, work: Path) -> Callable[..., Done]:
    """Evaluate a skill in the work folder: tasks by id, with what the skill is expected to say, and further options."""

    def call(
        tasks: dict[str, str],
        *,
        skill: str = "echo",
        version: str = "1.0.0",
        code: str = ECHO,
        more: Sequence[str] = (),
    ) -> Done:
        folder = work / "skill"
        folder.mkdir(exist_ok=True)
        (folder / "skill.json").write_text(json.dumps({**SKILL, "id": skill, "version": version}))
        (folder / "skill.py").write_text(code)
        items = [
            {
                "id": name,
                "description": name,
                "inputData": {"say": name},
                "expectedOutput": {"type": "exact", "value": expected},
            }
            for name, expected in tasks.items()
        ]
        (work / "tasks.json").write_text(json.dumps(items))
        done = program("eval", "--skills", "skill", "--tasks", "tasks.json", "--output-dir", work / "reports", *more)
        assert done.code == 0, done.stderr
        return done

    return call
