"""The local sandbox starts processes in folders of their own and claims no more than that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillgauge.api import Command, SandboxSpec, Tier
from skillgauge_sandbox_local.sandbox import LocalSandbox


def test_it_works_here_and_confines_nothing() -> None:
    """The check runs a process and reports the honest tier."""
    report = asyncio.run(LocalSandbox().check())
    assert report.tier is Tier.NONE
    assert not report.problems


def test_a_machine_that_starts_nothing_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the simplest program the sandbox says that it cannot be used."""
    monkeypatch.setenv("PATH", "/nonexistent")
    report = asyncio.run(LocalSandbox().check())
    assert [problem.code for problem in report.problems] == ["sandbox.unusable"]
    assert "'true' is not there" in report.problems[0].message


@pytest.mark.parametrize(("script", "how"), [("exit 3", "exit code 3"), ("kill -9 $$", "signal 9")])
def test_a_machine_where_nothing_succeeds_is_a_problem(
    script: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that starts but fails for no reason of its own makes the sandbox unusable, too."""
    (tmp_path / "true").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "true").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    problem = asyncio.run(LocalSandbox().check()).problems[0]
    assert problem.message.endswith(how)
    assert problem.hint


def test_a_workspace_has_folders_and_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root, home and temporary folder are fresh; a variable of the caller gets through only by name; all is removed."""
    monkeypatch.setenv("CANARY_ONE", "one")
    monkeypatch.setenv("CANARY_TWO", "two")

    async def look() -> tuple[str, Path, str]:
        spec = SandboxSpec(label="x", pass_env=("CANARY_TWO",))
        async with LocalSandbox().open(spec) as workspace:
            running = await workspace.start(Command(argv=("sh", "-c", "pwd; echo $HOME; echo $CANARY_ONE:$CANARY_TWO")))
            return (await running.wait()).stdout.decode(), workspace.root, workspace.tier

    output, root, tier = asyncio.run(look())
    here, home, canaries = output.split()
    assert Path(here) == root
    assert Path(home).parent == root.parent
    assert canaries == ":two"
    assert tier == "local/none"
    assert not root.exists()
