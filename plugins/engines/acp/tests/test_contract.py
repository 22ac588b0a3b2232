"""The contract of engines, with a scripted agent in the place of a vendor's."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from skillgauge.api import Engine, Provider, Traits
from skillgauge_engine_acp.agents import AGENTS
from skillgauge_engine_acp.plugin import skillgauge_engines
from skillgauge_testkit import (
    ENGINES,
    EnginePrompts,
    Maker,
    check_engine,
    check_light_import,
    check_plugin,
    check_redirects,
)

MODULE = "skillgauge_engine_acp.plugin"
AGENT = Path(__file__).parent / "scripted_agent.py"
KEY = "made-up-key-of-the-tests-0123456789"


def traits_of(name: str) -> Traits:
    """What the plugin announces of an agent."""
    return next(provider.traits for provider in skillgauge_engines() if provider.name == name)


@pytest.mark.parametrize("name", [agent.name for agent in AGENTS])
def test_engine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every agent's engine runs, fails and stops as engines promise."""
    for agent in AGENTS:
        monkeypatch.setenv(agent.variables[0], KEY)
    monkeypatch.setenv("HOME", str(AGENT.parent))
    check_engine(
        partial(Maker(ENGINES, MODULE, name), {"program": str(AGENT)}),
        traits_of(name),
        EnginePrompts(answered="hello", silent="silent", slow="hang", failing="crash"),
        secret=KEY,
    )


def test_announcement() -> None:
    """Hook, providers and entry points fit together."""
    check_plugin(MODULE, "engines")
    check_light_import(MODULE, allowed=("skillgauge_agent_programs",))


@pytest.mark.parametrize("provider", tuple(skillgauge_engines()), ids=lambda provider: provider.name)
def test_redirects(provider: Provider[Engine]) -> None:
    """Each variable that an agent declares decides which address is asked."""
    check_redirects(provider)
