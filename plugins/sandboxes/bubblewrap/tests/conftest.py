"""Tests that need bubblewrap are skipped where it does not work, and say why."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from skillgauge_sandbox_bubblewrap import sandbox
from skillgauge_sandbox_bubblewrap.launching import Launchers
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Skips where there is no bubblewrap that works."""
    problems = asyncio.run(BubblewrapSandbox(BubblewrapOptions()).check()).problems
    if problems:
        pytest.skip(f"{problems[0].message} (make sandbox)")


@pytest.fixture(params=["launcher", "bwrap"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are started by the launcher; or by bwrap, as where only bwrap may make namespaces."""
    monkeypatch.setattr(sandbox, "Launchers", partial(Launchers, are_usable=request.param == "launcher"))
