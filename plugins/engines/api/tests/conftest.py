"""Sessions over real HTTP and in real workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import (
    NO_LIMITS,
    Execution,
    FileSpec,
    Limits,
    RunRequest,
    SandboxSpec,
    Trajectory,
    TrajectoryEvent,
    Usage,
)
from skillgauge_engine_api.engine import ApiEngine
from skillgauge_engine_api.options import SERVICES, ApiOptions, Service
from skillgauge_testkit import ModelServer, TemporarySandbox

KEY = "canary/key+0123456789"
SKILL = (
    "---\nname: pdf\ndescription: >\n  Makes PDF\n  files.\nallowed-tools: Read, Write, Bash(python:*)\n---\n\n"
    "Use the force.\n"
)


@dataclass(frozen=True)
class Held:
    """A session that was held."""

    execution: Execution
    files: Mapping[str, bytes]
    """What was in the workspace afterwards, skills apart."""
    events: list[TrajectoryEvent]
    usages: list[Usage]
    """What was emitted of the session's usage."""
    problem_free: bool

    @property
    def told(self) -> Trajectory:
        """Its trajectory."""
        assert self.execution.trajectory
        return self.execution.trajectory


Hold = Callable[..., Held]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for facts in SERVICES.values():
        for name in facts.variables:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(facts.variables[0], KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # must not be used
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")


def engine_of(server: ModelServer, provider: Service = Service.OPENAI, **options: Any) -> ApiEngine:
    """An engine that asks the scripted server."""
    address = f"{server.url}/v1" if provider is Service.OPENAI else server.url
    given = {"base_url": address, "provider": provider, "model": "m-1", "request_timeout_s": 20, **options}
    return ApiEngine(ApiOptions.model_validate(given))


@pytest.fixture
def hold() -> Hold:
    """Hold a session in a workspace that holds some files and a skill, if there is to be one."""

    def call(
        server: ModelServer,
        prompt: str = "do it",
        *,
        provider: Service = Service.OPENAI,
        files: Mapping[str, str] | None = None,
        skills: Mapping[str, str] | None = None,
        limits: Limits = NO_LIMITS,
        prepare: Callable[[Path], None] = lambda _root: None,
        **options: Any,
    ) -> Held:
        async def run() -> Held:
            engine = engine_of(server, provider, **options)
            events: list[TrajectoryEvent] = []
            usages: list[Usage] = []

            def emit(event: TrajectoryEvent | Usage) -> None:
                if isinstance(event, Usage):
                    usages.append(event)
                else:
                    events.append(event)

            async with TemporarySandbox().open(SandboxSpec(label="api")) as workspace:
                specs = [FileSpec(path=path, text=text) for path, text in (files or {}).items()]
                specs += [
                    FileSpec(path=f".agents/skills/{path}", text=text, executable=path.endswith(".sh"))
                    for path, text in (skills or {}).items()
                ]
                await workspace.put(specs)
                prepare(workspace.root)
                request = RunRequest(trial_id="t", case_id="c", prompt=prompt, model=None, limits=limits)
                execution = await engine.run(request, workspace, emit)
                left = {
                    path: await workspace.collect(path, 10**7)
                    for path in await workspace.snapshot()
                    if not path.startswith(".agents/")
                }
            return Held(execution, left, events, usages, not await engine.check())

        held = asyncio.run(run())
        assert KEY not in held.execution.model_dump_json()
        return held

    return call
