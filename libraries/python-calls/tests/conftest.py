"""A kind of object that is called as it is, and sessions with real processes."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import CallRequest, Execution, Limits, SandboxSpec, Target
from skillgauge_python_calls.adapter import Kind, PythonCalls
from skillgauge_python_calls.session import CallSession
from skillgauge_python_calls.settings import CallSettings
from skillgauge_testkit import TemporarySandbox

PROGRAM = """
def prepare(found, settings, wait):
    if not callable(found):
        raise TypeError("it cannot be called")
    return lambda value: {"result": wait(found(value)), "notes": ["called"]}
"""
KIND = Kind(name="python", default_name="run", settings=CallSettings, program=PROGRAM)
"""Named as an adapter that is installed, since an identity tells its version."""

Ask = Callable[..., Awaitable[Execution]]
"""Calls with an input; takes limits and environment variables by name."""
Test = Callable[[Ask, CallSession], Awaitable[None]]
Run = Callable[..., None]


@pytest.fixture
def adapter() -> PythonCalls[CallSettings]:
    """The adapter of that kind."""
    return PythonCalls(KIND)


@pytest.fixture
def run(tmp_path: Path, adapter: PythonCalls[CallSettings]) -> Run:
    """Write a skill and run a test with a session of it; it is closed afterwards."""

    def make(code: str, test: Test, *, entrypoint: str = "skill.py", **fields: Any) -> None:
        (tmp_path / "skill.py").write_text(textwrap.dedent(code))
        target = Target.model_validate({"id": "t", "root": str(tmp_path), "entrypoint": entrypoint, **fields})
        spec = SandboxSpec(label="t", pass_env=target.pass_env)

        async def main() -> None:
            async with TemporarySandbox().open(spec) as workspace:
                session = await adapter.open(target, workspace)

                async def ask(
                    value: Any = None, *, timeout_s: float | None = 30, output_bytes: int | None = None, **env: str
                ) -> Execution:
                    limits = Limits(timeout_s=timeout_s, output_bytes=output_bytes)
                    request = CallRequest(trial_id="t", case_id="c", input=value, limits=limits, env=env)
                    return await session.call(request)

                try:
                    await test(ask, session)
                finally:
                    await session.close()

        asyncio.run(main())

    return make


async def gone(pid: int) -> bool:
    """Wait until a process has ended, and let the event loop take note; False if it never does."""
    for _ in range(600):
        if _has_ended(pid):
            for _ in range(10):  # its pipes are closed already, so these turns of the loop see it
                await asyncio.sleep(0)
            return True
        await asyncio.sleep(0.05)
    return False


def _has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
