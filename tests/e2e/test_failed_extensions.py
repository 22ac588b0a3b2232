"""P-M4: an extension that fails once the run has begun changes no result, and the user is told in plain words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import skillgauge
from skillgauge.api import Severity, hookimpl
from skillgauge.api.report import RunInfo, Summary
from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill, task

EXTENSION = """
import os
from skillgauge.api import Frozen, Provider, Traits, hookimpl

class Options(Frozen):
    url: str = ""

class Chat:
    def __init__(self, options):
        pass

    @hookimpl
    def skillgauge_run_finished(self, run, summary):
        raise RuntimeError("nobody listens to " + os.environ.get("ACME_TOKEN", "us"))

@hookimpl
def skillgauge_extensions():
    yield Provider("acme-chat", Chat, "Posts.", Options, Traits(secrets=("ACME_TOKEN",)))
"""
FAILED = "[plugin.broken]: extension 'acme-chat' failed in skillgauge_run_finished: RuntimeError: nobody listens to "


@pytest.fixture
def evaluate(program: Program, make_skill: MakeSkill, tasks: Callable[..., Path], work: Path) -> Callable[..., Done]:
    """Evaluate a skill that passes."""
    (work / "acme_chat.py").write_text(EXTENSION)

    def call(*more: str | Path) -> Done:
        make_skill()
        env = {"PYTHONPATH": str(work), "ACME_TOKEN": "canary-of-acme-4711"}
        done = program.process("eval", "echo", "--tasks", tasks(task("one", 1)), *more, env=env)
        assert "canary-of-acme" not in done.stdout + done.stderr
        return done

    return call


@pytest.fixture
def installed(work: Path) -> None:
    """The extension is installed, and listens to every run."""
    folder = work / "acme_chat-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-chat\nVersion: 1\nRequires-Dist: skillgauge-core>=0.1,<0.2\n"
    )
    (folder / "entry_points.txt").write_text("[skillgauge.extensions]\nacme-chat = acme_chat\n")


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [(), ("--quiet",)], ids=["aloud", "quiet"])
def test_one_that_is_named_by_its_file(evaluate: Callable[..., Done], work: Path, quiet: tuple[str, ...]) -> None:
    """Its work was asked for and is not done: an error, also in a quiet run, and exit code 2."""
    done = evaluate("--plugin", work / "acme_chat.py", *quiet)
    assert (done.code, done.verdict) == (2, "done: 1 of 1 passed"), done.stderr
    assert done.stderr.count(f"error{FAILED}") == 1
    assert "plugin.unusable" not in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_one_that_is_named_by_an_option(evaluate: Callable[..., Done]) -> None:
    """Whoever sets an option of it relies on it."""
    done = evaluate("--set", "extensions.acme-chat.url=http://127.0.0.1:9/", "--json")
    document = json.loads(done.stdout)
    assert (done.code, document["exit_code"]) == (2, 2)
    assert f"error{FAILED}" in done.stderr
    assert ("plugin.broken", "error") in {(one["code"], one["severity"]) for one in document["problems"]}


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_one_that_nobody_named(evaluate: Callable[..., Done]) -> None:
    """It is only installed: a warning with the way out, and the run ends well."""
    done = evaluate()
    assert (done.code, done.verdict) == (0, "done: 1 of 1 passed"), done.stderr
    assert f"warning{FAILED}" in done.stderr
    assert "to run without it: --no-plugin acme-chat." in done.stderr
    assert "acme-chat" not in evaluate("--no-plugin", "acme-chat").stderr


@pytest.mark.slow
def test_a_worse_end_is_not_hidden(evaluate: Callable[..., Done], work: Path, tasks: Callable[..., Path]) -> None:
    """A gate that was missed stays exit code 1."""
    wrong = tasks(task("one", 1, expect=2), name="wrong.json")
    done = evaluate("--plugin", work / "acme_chat.py", "--tasks", wrong, "--exit-on-fail")
    assert done.code == 1, done.stderr
    assert f"error{FAILED}" in done.stderr


def test_python_hears_of_it(make_skill: MakeSkill, tasks: Callable[..., Path]) -> None:
    """It is among the problems of the run that comes back."""

    class Chat:
        """Fails."""

        @hookimpl
        def skillgauge_run_finished(self, run: RunInfo, summary: Summary) -> None:
            """Fail."""
            raise RuntimeError(f"no chat for {run.run_id}: {summary.counts.total}")

    run = skillgauge.evaluate(make_skill(), plugins=[Chat()], suites={"tasks": str(tasks(task("one", 1)))})
    (problem,) = run.problems
    assert (problem.code, problem.severity) == ("plugin.broken", Severity.WARNING)
    assert f"no chat for {run.run.run_id}: 1" in problem.message
