"""An extension that knows an organization's secrets is asked for them, before the environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import Program

from .conftest import MakeSkill
from .judge_replies import said
from .test_judges import local, rubric_task

Tasks = Callable[..., Path]

KEY = "sk-canary-of-the-vault-0123456789"
VAULT = f"""
from pathlib import Path
from skillgauge.api import Frozen, Provider, hookimpl

class Options(Frozen):
    names: tuple[str, ...] = ("ANTHROPIC_API_KEY",)

class Vault:
    def __init__(self, options):
        self._names = options.names

    @hookimpl
    def skillgauge_resolve_secret(self, name):
        with Path("asked.txt").open("a") as file:
            file.write(name + "\\n")
        return "{KEY}" if name in self._names else None

@hookimpl
def skillgauge_extensions():
    yield Provider("vault", Vault, "Our secrets.", Options)
"""


@pytest.fixture
def vault(work: Path) -> Path:
    """A plugin that knows one key and writes down what it is asked for."""
    path = work / "vault.py"
    path.write_text(VAULT)
    return path


@pytest.mark.slow
@pytest.mark.e2e
def test_the_key_of_a_judge(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks, vault: Path) -> None:
    """It is asked once for each name, goes before the variable, reaches the service, and is in nothing that is kept."""
    command = ["eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("one"), rubric_task("two")), "--json"]
    command += ["--judge", "anthropic", "--judge-model", "m", "--plugin", vault, "--format", "json", "record"]

    # A judge that repeats its key, as an error message of a service may.
    def answer(request: ModelRequest) -> ModelReply:
        return ModelReply(text=json.dumps({"marker": said(request)[0], "score": 8, "reason": f"yes, {KEY}"}))

    with ModelServer(answer) as server:
        done = program.process(*command, *local(server, "anthropic"), env={"ANTHROPIC_API_KEY": "sk-of-the-shell"})
        assert [request.key for request in server.requests] == [KEY] * 2
    assert done.code == 0, done.stdout + done.stderr
    asked = (work / "asked.txt").read_text().split()
    assert asked.count("ANTHROPIC_API_KEY") == 1
    assert len(asked) == len(set(asked))
    kept = [path for path in work.rglob("*") if path.is_file() and path != vault]
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
    assert KEY not in done.stdout + done.stderr
    assert "[redacted:ANTHROPIC_API_KEY]" in (work / "reports/eval-result.json").read_text()


@pytest.mark.slow
@pytest.mark.e2e
def test_what_it_does_not_know(program: Program, make_skill: MakeSkill, tasks: Tasks, vault: Path) -> None:
    """The environment answers then; if it does not, either, the plan says so before anything runs."""
    command = ["eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("one")), "--plugin", vault]
    command += [
        "--judge",
        "anthropic",
        "--set",
        'extensions.vault.names=["OTHER"]',
        "--set",
        "judges.anthropic.model=m",
    ]
    missing = program.process(*command)
    assert missing.code == 2
    assert "judge 'anthropic' has no key" in missing.stderr
    assert program.process(*command, "--dry-run", env={"ANTHROPIC_API_KEY": KEY}).code == 0


@pytest.mark.e2e
def test_one_that_fails(program: Program, make_skill: MakeSkill, tasks: Tasks, vault: Path) -> None:
    """Going on without the key would look like a fault of the user: it is an error, without what the vault said."""
    vault.write_text(
        VAULT.replace("self._names else None", "self._names else 1 / 0").replace(
            'return "', f'raise OSError("{KEY}") if name else "'
        )
    )
    command = ["eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("one")), "--judge", "anthropic"]
    done = program.process(*command, "--plugin", vault)
    assert done.code == 2
    assert "extension 'vault' failed to resolve secret ANTHROPIC_API_KEY: OSError" in done.stderr
    assert KEY not in done.stderr


@pytest.mark.slow
@pytest.mark.e2e
def test_options_that_are_wrong(program: Program, make_skill: MakeSkill, tasks: Tasks, vault: Path) -> None:
    """They are refused like those of any plugin."""
    command = ["eval", "--skills", make_skill(), "--tasks", tasks(rubric_task("one")), "--judge", "anthropic"]
    done = program.process(*command, "--plugin", vault, "--set", "extensions.vault.nmes=[]")
    assert done.code == 2
    assert "nmes" in done.stderr
