"""Which recordings are meant, what is told, and what is said where there is none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    Blame,
    Emit,
    EventKind,
    Execution,
    Identity,
    Limits,
    Problem,
    RunRequest,
    SandboxSpec,
    Severity,
    Trajectory,
    TrajectoryEvent,
    Usage,
)
from skillgauge_engine_replay.engine import ReplayEngine
from skillgauge_engine_replay.options import ReplayOptions
from skillgauge_recordings import Cassette, RecordedFile
from skillgauge_testkit import TemporarySandbox

CLAUDE = Identity(name="claude", version="1", settings={"mode": "a"})
RECIPE = {"suite": "s", "case": "c", "arm": "with_skill", "repeat": 1, "prompt": "p1", "skills": {"pdf": "d1"}}


def record(folder: Path, key: str = "k", **fields: Any) -> Path:
    """Write a recording and return its path."""
    told = Trajectory(events=(TrajectoryEvent(kind=EventKind.MESSAGE, text="hi"),), skills_offered=("pdf",))
    known = {
        "key": key,
        "recipe": RECIPE,
        "engine": CLAUDE,
        "model": "m1",
        "execution": Execution(text="done", trajectory=told, usage=Usage(cost_usd=1.5), duration_s=9.0),
    }
    path = folder / f"{key}.cassette.json"
    path.write_text(Cassette.model_validate(known | fields).model_dump_json())
    return path


def engine(folder: Path, name: str | None = None) -> ReplayEngine:
    """An engine that plays what a folder holds."""
    return ReplayEngine(ReplayOptions(folder=str(folder), engine=name))


def checked(one: ReplayEngine) -> tuple[Problem, ...]:
    """What keeps it from working."""
    return asyncio.run(one.check())


def play(one: ReplayEngine, key: str = "k", emit: Emit = lambda _event: None, **changes: Any) -> Execution:
    """A session."""

    async def run() -> Execution:
        async with TemporarySandbox().open(SandboxSpec(label="replay")) as workspace:
            known = {"trial_id": "t", "case_id": "c", "prompt": "p", "model": "m1", "limits": Limits()}
            request = RunRequest.model_validate(known | {"cassette_key": key, "recipe": RECIPE | changes})
            return await one.run(request, workspace, emit)

    return asyncio.run(run())


def test_a_session_is_told_as_it_was(tmp_path: Path) -> None:
    """Answer, trajectory, usage and time are the recorded ones, the events come again, and it is marked as replayed."""
    record(tmp_path)
    events: list[TrajectoryEvent] = []
    execution = play(engine(tmp_path), emit=events.append)
    assert execution.replayed
    assert (execution.text, execution.duration_s, execution.failure) == ("done", 9.0, None)
    assert execution.usage == Usage(cost_usd=1.5)
    assert execution.trajectory
    assert execution.trajectory.skills_offered == ("pdf",)
    assert [event.text for event in events] == ["hi"]


def test_identity_is_that_of_the_recorded_engine(tmp_path: Path) -> None:
    """So that keys agree; with the model that was asked then, whether or not the user names it."""
    record(tmp_path)
    one = engine(tmp_path)
    for model in (None, "m1"):
        found = one.identity(model)
        assert (found.unversioned_digest, found.version, found.model) == (CLAUDE.unversioned_digest, "1", "m1")
    assert checked(one) == ()


def test_a_miss_says_what_changed(tmp_path: Path) -> None:
    """It is an error, never retried, and names the parts that differ from the nearest recording."""
    record(tmp_path)
    execution = play(engine(tmp_path), "other", prompt="p2", skills={"pdf": "d2"})
    assert execution.failure
    assert execution.replayed
    assert (execution.failure.blame, execution.failure.retryable) == (Blame.INFRASTRUCTURE, False)
    assert "these differ: prompt, skills" in execution.failure.message
    assert "--record" in execution.failure.message
    unknown = play(engine(tmp_path), "other", case="new")
    assert unknown.failure
    assert "no recording of suite s, case new" in unknown.failure.message


def test_files_that_cannot_be_restored_are_an_error(tmp_path: Path) -> None:
    """A recording that would leave the workspace fails its session and says why."""
    record(tmp_path, files=(RecordedFile(path="../up", text="x"),))
    execution = play(engine(tmp_path))
    assert execution.failure
    assert "cannot be restored" in execution.failure.message
    assert "'../up'" in execution.failure.message


def test_several_agents_in_a_folder_must_be_told_apart(tmp_path: Path) -> None:
    """All are listed; a model chooses, the option `engine` does, and a choice that fits none lists them, too."""
    record(tmp_path, "k1")
    record(tmp_path, "k2", model="m2")
    record(tmp_path, "k3", engine=Identity(name="codex"), model=None)
    one = engine(tmp_path)
    assert one.identity(None).name == "replay"
    (problem,) = checked(one)
    assert problem.severity is Severity.ERROR
    assert "claude with m1, claude with m2, codex with its own model" in problem.message
    assert "--model" in str(problem)
    chosen = engine(tmp_path)
    assert chosen.identity("m2").name == "claude"
    assert checked(chosen) == ()
    named = engine(tmp_path, "codex")
    assert named.identity(None).name == "codex"
    assert checked(named) == ()
    wrong = engine(tmp_path, "codex")
    wrong.identity("m3")
    (problem,) = checked(wrong)
    assert "no recording of engine 'codex' and model 'm3'; it has: claude with m1" in problem.message


def test_several_settings_of_one_engine_cannot_be_told_apart(tmp_path: Path) -> None:
    """No option chooses between them, so the folder must hold one."""
    record(tmp_path, "k1")
    record(tmp_path, "k2", engine=CLAUDE.model_copy(update={"settings": {"mode": "b"}}))
    one = engine(tmp_path)
    one.identity(None)
    (problem,) = checked(one)
    assert "under different settings" in problem.message


def test_several_versions_of_one_engine_are_played_with_a_warning(tmp_path: Path) -> None:
    """Keys do not depend on the version; which one answered is then unknown."""
    record(tmp_path, "k1")
    record(tmp_path, "k2", engine=CLAUDE.model_copy(update={"version": "2"}))
    one = engine(tmp_path)
    assert one.identity(None).version is None
    (problem,) = checked(one)
    assert (problem.severity, problem.code) == (Severity.WARNING, "replay.versions")
    assert "1, 2" in problem.message
    assert play(one, "k2").failure is None


def test_damaged_recordings_are_all_listed(tmp_path: Path) -> None:
    """With their place; nothing can be played then, and asking for an identity breaks nothing."""
    record(tmp_path, "k0")
    document = json.loads(record(tmp_path, "k1").read_text())
    (tmp_path / "k1.cassette.json").write_text(json.dumps(document | {"key": 5}))
    (tmp_path / "k2.cassette.json").write_text("{")
    one = engine(tmp_path)
    one.identity(None)
    problems = checked(one)
    assert {problem.origin.file for problem in problems if problem.origin} >= {str(tmp_path / "k1.cassette.json")}
    assert any("k2.cassette.json" in str(problem) for problem in problems)


@pytest.mark.parametrize("make_it", [True, False])
def test_a_folder_without_recordings_is_a_problem(tmp_path: Path, make_it: bool) -> None:
    """Empty or absent: the next step is to record."""
    folder = tmp_path / "none"
    if make_it:
        folder.mkdir()
    (problem,) = checked(engine(folder))
    assert problem.code == "replay.empty"
    assert "--record" in str(problem)
