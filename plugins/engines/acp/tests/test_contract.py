"""The contract of engines, with a scripted agent in the place of a vendor's."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from skillgauge.api import Engine, Provider
from skillgauge_engine_acp.agents import AGENTS, Agent
from skillgauge_engine_acp.provider import provider_of
from skillgauge_testkit import (
    ENGINES,
    EnginePrompts,
    Maker,
    check_engine,
    check_light_import,
    check_plugin,
    check_redirects,
)

from .conftest import MODULES

AGENT = Path(__file__).parent / "scripted_agent.py"
KEY = "made-up-key-of-the-tests-0123456789"


@pytest.mark.parametrize("tested", AGENTS, ids=lambda agent: agent.name)
def test_engine(tested: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every agent's engine runs, fails and stops as engines promise."""
    for agent in AGENTS:
        monkeypatch.setenv(agent.variables[0], KEY)
    monkeypatch.setenv("HOME", str(AGENT.parent))
    check_engine(
        partial(Maker(ENGINES, MODULES[tested.name], tested.name), {"program": str(AGENT)}),
        provider_of(tested).traits,
        EnginePrompts(answered="hello", silent="silent", slow="hang", failing="crash"),
        secret=KEY,
    )


@pytest.mark.parametrize("name", MODULES)
def test_announcement(name: str) -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULES[name], "engines")
    check_light_import(MODULES[name], allowed=("skillgauge_agent_programs",))


@pytest.mark.parametrize("provider", tuple(map(provider_of, AGENTS)), ids=lambda provider: provider.name)
def test_redirects(provider: Provider[Engine]) -> None:
    """Each variable that an agent declares decides which address is asked."""
    check_redirects(provider)
