"""Tests that need bubblewrap are skipped where it does not work, and say why."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest

from skillgauge_sandbox_bubblewrap import launching, sandbox
from skillgauge_sandbox_bubblewrap.launching import Launchers
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """Skips where there is no bubblewrap that works."""
    problems = asyncio.run(BubblewrapSandbox(BubblewrapOptions()).check()).problems
    if problems:
        pytest.skip(f"{problems[0].message} (make sandbox)")


@pytest.fixture
def compiled() -> None:
    """Skips where the launcher was not compiled."""
    if not launching.COMPILED.exists():
        pytest.skip("no compiled launcher (make sandbox)")


@pytest.fixture(params=["compiled", "python"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The form of the launcher that commands are started by."""
    use(request.param, request, monkeypatch)
    return str(request.param)


@pytest.fixture(params=["compiled", "python", "bwrap"])
def any_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are started by the launcher in either form; or by bwrap, as where only bwrap may make namespaces."""
    if request.param == "bwrap":
        monkeypatch.setattr(sandbox, "Launchers", partial(Launchers, are_usable=False))
    else:
        use(request.param, request, monkeypatch)


def use(form: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have launchers take one of their forms; skips where there is no compiled one."""
    if form == "python":
        monkeypatch.setattr(launching, "COMPILED", Path(os.devnull))
    else:
        request.getfixturevalue("compiled")
