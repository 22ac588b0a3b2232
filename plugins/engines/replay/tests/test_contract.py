"""The contract of engines, with recordings whose keys are the prompts."""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from skillgauge.api import Execution, Identity, SandboxReport, SandboxSpec, Tier, Trajectory, Workspace
from skillgauge_engine_replay.plugin import skillgauge_engines
from skillgauge_processes import DirectoryWorkspace
from skillgauge_recordings import Cassette, RecordedFile
from skillgauge_testkit import ENGINES, EnginePrompts, Maker, check_engine, check_light_import, check_plugin

MODULE = "skillgauge_engine_replay.plugin"


def record(folder: Path, key: str, *files: RecordedFile) -> None:
    """Write a recording."""
    recording = Cassette(
        key=key,
        recipe={},
        engine=Identity(name="agent", version="1"),
        model=None,
        execution=Execution(text="done", trajectory=Trajectory(), duration_s=3.0),
        files=files,
    )
    (folder / f"{key}.cassette.json").write_text(recording.model_dump_json())


class SlowRemoval:
    """A sandbox in which `rm` takes a minute."""

    def __init__(self, programs: Path) -> None:
        self._path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        (programs / "rm").write_text("#!/bin/sh\nexec sleep 60\n")
        (programs / "rm").chmod(0o755)

    async def check(self) -> SandboxReport:
        """It confines nothing."""
        return SandboxReport(Tier.NONE)

    def open(self, spec: SandboxSpec) -> AbstractAsyncContextManager[Workspace]:
        """A fresh workspace."""
        return DirectoryWorkspace(spec, {"PATH": self._path}, tier="slow/none")


def test_engine(tmp_path: Path) -> None:
    """A recording is told as it was, a session without one fails, and restoring stops when it is cancelled."""
    record(tmp_path, "hello", RecordedFile(path="out.txt", text="1"))
    record(tmp_path, "wait", RecordedFile(path="old.txt"))
    programs = tmp_path / "bin"
    programs.mkdir()
    (provider,) = skillgauge_engines()
    make = Maker(ENGINES, MODULE)
    prompts = EnginePrompts(answered="hello", slow="wait", failing="crash")
    sandbox = SlowRemoval(programs)
    check_engine(lambda: make({"folder": str(tmp_path)}), provider.traits, prompts, sandbox=sandbox)


def test_announcement() -> None:
    """Hook, provider and entry point fit together; nobody gets a replay unasked."""
    check_plugin(MODULE, "engines", options={"replay": {"folder": "cassettes"}})
    check_light_import(MODULE)
    (provider,) = skillgauge_engines()
    assert provider.traits.only_by_name
    assert not provider.traits.paid
