"""The contract of engines, with a program that plays the agent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skillgauge_engine_command.options import CommandOptions
from skillgauge_engine_command.plugin import skillgauge_engines
from skillgauge_testkit import ENGINES, EnginePrompts, Maker, check_engine, check_light_import, check_plugin

MODULE = "skillgauge_engine_command.plugin"
AGENT = """
import os, sys, time
if "wait" in sys.argv[1]:
    time.sleep(60)
print("done", len(os.environ["AGENT_KEY"]))
sys.exit(5 if "crash" in sys.argv[1] else 0)
"""


def test_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions end, fail and are cancelled as the contract says; the key is passed on and shown nowhere."""
    monkeypatch.setenv("AGENT_KEY", "key-of-the-agent")
    (tmp_path / "agent.py").write_text(AGENT)
    argv = [sys.executable, "-I", "-S", str(tmp_path / "agent.py"), "{prompt}"]
    options = {"argv": argv, "pass_env": ["AGENT_KEY"]}
    (provider,) = skillgauge_engines()
    assert provider.traits_with
    traits = provider.traits_with(CommandOptions.model_validate(options))
    make = Maker(ENGINES, MODULE)
    prompts = EnginePrompts(answered="hello", silent="hello", slow="wait", failing="crash")
    check_engine(lambda: make(options), traits, prompts, secret="key-of-the-agent")


def test_announcement() -> None:
    """Hook, provider and entry point fit together; options decide the traits."""
    check_plugin(MODULE, "engines", options={"command": {"argv": ["agent"]}})
    check_light_import(MODULE)
    (provider,) = skillgauge_engines()
    assert provider.traits_with
    given = {"argv": ["a"], "pass_env": ["K"], "skill_folder": "skills/", "hosts": ["api.test:443"], "paid": False}
    traits = provider.traits_with(CommandOptions.model_validate(given))
    assert (traits.only_by_name, traits.paid, traits.skill_folder) == (True, False, "skills")
    assert (traits.secrets, traits.model_hosts, traits.tells) == (("K",), ("api.test:443",), frozenset())
