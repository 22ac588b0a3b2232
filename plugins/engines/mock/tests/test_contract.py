"""The contract of engines."""

from __future__ import annotations

from skillgauge.api import Fact
from skillgauge_engine_mock.plugin import skillgauge_engines
from skillgauge_testkit import (
    ENGINES,
    EnginePrompts,
    Maker,
    TemporarySandbox,
    check_engine,
    check_light_import,
    check_plugin,
)

MODULE = "skillgauge_engine_mock.plugin"
SCRIPT = {"replies": [{"match": "wait", "run": "sleep 60"}, {"match": "crash", "fail": "auth"}]}


def test_engine() -> None:
    """Sessions end, fail and are cancelled as the contract says; with real processes."""
    (provider,) = skillgauge_engines()
    make = Maker(ENGINES, MODULE)
    prompts = EnginePrompts(answered="hello", slow="wait", failing="crash")
    check_engine(lambda: make(SCRIPT), provider.traits, prompts, sandbox=TemporarySandbox())


def test_announcement() -> None:
    """Hook, provider and entry point fit together; it tells everything, costs nothing and must be named."""
    check_plugin(MODULE, "engines")
    check_light_import(MODULE)
    (provider,) = skillgauge_engines()
    assert provider.traits.tells == frozenset(Fact)
    assert provider.traits.only_by_name
    assert not provider.traits.paid
