"""Skills and tasks for the command line, which runs with nothing of this machine."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import SANDBOXES
from skillgauge.plugins.registry import Registry
from skillgauge_testkit.program import Done, Program

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


Letters = dict[str, str]
"""By case, what becomes of its repeats: see `scripted_agent.py`."""


@dataclass(frozen=True)
class Scripted:
    """A skill `s` whose agent ends its sessions as it is told."""

    program: Program
    work: Path
    options: tuple[str, ...] = ("--plugin", str(Path(__file__).with_name("scripted_agent.py")))
    """What every command that evaluates it needs."""

    def write(self, *, cases: int = 4, says: str = "GOOD", name: str = "s") -> None:
        """A skill with as many evals."""
        folder = self.work / name
        (folder / "evals").mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Says good things.\n---\nSay {says}.\n")
        good = {"text": "good", "type": "equals", "value": "GOOD"}
        evals = [{"id": one, "prompt": f"number {one}", "assertions": [good]} for one in range(1, cases + 1)]
        (folder / "evals/evals.json").write_text(json.dumps({"skill_name": name, "evals": evals}))

    def script(self, with_skill: Letters, without: Letters, **models: Letters) -> None:
        """What the agent will do, with the skill and some models something else; what it did is forgotten."""
        outcomes = {"with_skill": with_skill, "without_skill": without}
        outcomes |= {f"with_skill@{model}": letters for model, letters in models.items()}
        (self.work / "outcomes.json").write_text(json.dumps(outcomes))
        (self.work / "sessions.txt").unlink(missing_ok=True)

    def write_queries(self, should: int, should_not: int, threshold: float | None = None) -> None:
        """The same skill with queries instead: those that should fire have the ids from 1 on, then the others."""
        shutil.rmtree(self.work / "s/evals")
        (self.work / "s/evals").mkdir()
        more = {} if threshold is None else {"threshold": threshold}
        queries = [
            {"id": one, "query": f"number {one}", "should_trigger": one <= should, **more}
            for one in range(1, should + should_not + 1)
        ]
        (self.work / "s/evals/trigger-eval.json").write_text(json.dumps(queries))

    def sessions(self) -> list[str]:
        """Arm, case and repeat of every session since the last script."""
        file = self.work / "sessions.txt"
        return sorted(file.read_text().splitlines()) if file.exists() else []

    def evaluate(self, with_skill: Letters, without: Letters, *arguments: str, code: int = 0) -> Done:
        """Evaluate it by a script."""
        self.script(with_skill, without)
        return self.run("eval", "s", "--engine", "scripted", "--format", "record", *arguments, code=code)

    def run(self, *command: str, code: int = 0) -> Done:
        """A command that evaluates it."""
        return self.run_plain(*command, *self.options, code=code)

    def run_plain(self, *command: str, code: int = 0) -> Done:
        """A command that evaluates nothing."""
        done = self.program(*command)
        assert done.code == code, done.stdout + done.stderr
        return done


def letters(all_of: str, **others: str) -> Letters:
    """The same for the cases 1 to 4 but some: `letters("p", case_2="f")`."""
    return dict.fromkeys("1234", all_of) | {name.removeprefix("case_"): one for name, one in others.items()}


@pytest.fixture
def scripted(program: Program, work: Path) -> Scripted:
    """The skill of four evals."""
    found = Scripted(program, work)
    found.write()
    return found
