"""Simulated users: the provider of a test that talks to the agent in the user's place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import Case, Check, SimulatedUser
from skillgauge_assertions import Node, Reading, TemplateError, Vars, filled

PROVIDER = "promptfoo:simulated-user"
_SCORER = "simulated-user"
_INSTRUCTIONS, _TURNS = "instructions", "maxTurns"
_MOST = 10
_DEFAULT = "{{instructions}}"
_CONFIG: Mapping[str, str] = {
    _INSTRUCTIONS: "",
    _TURNS: "",
    "initialMessages": "! is a conversation that has begun already, which no agent goes on with",
    "stateful": "an agent knows its session",
}
_BEGINS = "the agent is told the prompt first, and the user answers it; in promptfoo the user begins"
_WHOLE = "assertions look at the last answer here, and at all that was said in promptfoo"


def user_node(reading: Reading, test: Node) -> Node | None:
    """Return the provider of a test that is a simulated user; any other is refused."""
    provider = test.at("provider")
    if provider.value is None:
        return None
    name = provider.value if isinstance(provider.value, str) else provider.at("id").value
    if name == PROVIDER:
        return provider
    hint = "Put the test into a configuration of its own."
    reading.refuse(provider, "`provider` of a single test is not supported", hint)
    return None


def user_of(reading: Reading, provider: Node, values: Vars) -> SimulatedUser | None:
    """Return the user of a test; `None` after telling what is wrong with it.

    Args:
        reading: takes problems and notices.
        provider: of the test.
        values: variables, which are put into the instructions.
    """
    config = provider.at("config")
    if config.value is not None and not reading.only(config, _CONFIG, "the simulated user"):
        return None
    written, turns = config.at(_INSTRUCTIONS).value, config.at(_TURNS).value
    if turns is not None and (not isinstance(turns, int) or isinstance(turns, bool) or turns < 1):
        reading.refuse(config.at(_TURNS), f"{_TURNS} has to be a whole number above 0", code="suite.value")
        return None
    try:
        text = filled(written if isinstance(written, str) else _DEFAULT, values).strip()
    except TemplateError as error:
        reading.refuse(provider, f"instructions of the simulated user: {error}", code="suite.template")
        return None
    if not text:
        reading.refuse(provider, "the simulated user has no instructions", "Write who the user is, and wants what.")
        return None
    reading.keep(provider, "a simulated user", f"{_BEGINS}; {_WHOLE}")
    check = Check(id=_SCORER, scorer=_SCORER, options={"instructions": text}, origin=provider.origin)
    return SimulatedUser(check=check, turns=turns or _MOST)


def provider_of(case: Case) -> dict[str, Any]:
    """Return the keys of a test for the user of a case; empty if there is none, or one that cannot be written."""
    user = case.user
    if user is None or case.turns or user.check.scorer != _SCORER or user.check.options.keys() != {"instructions"}:
        return {}
    return {"provider": {"id": PROVIDER, "config": {_INSTRUCTIONS: _DEFAULT, _TURNS: user.turns}}}
