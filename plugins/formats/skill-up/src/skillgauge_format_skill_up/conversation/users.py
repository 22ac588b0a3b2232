"""The user simulator: a scenario of a case, and the model of a suite that plays it."""

from __future__ import annotations

from typing import Any

from skillgauge.api import Case, Check, JsonValue, SimulatedUser

from ..files import CaseFile, EvalFile, ModelFile
from ..reading import Reading

MOST = 12
"""Messages of a user, the prompt included, where neither case nor suite gives a number."""
SIMULATED = "simulated-user"


def user_of(suite: EvalFile, case: CaseFile, reading: Reading) -> SimulatedUser | None:
    """Return the user that goes on after the prompt of a case; `None` if the case has none.

    Args:
        suite: which may name the model, and how many messages there are.
        case: with the scenario.
        reading: of the case.
    """
    simulator, place = case.user_simulator, ("user_simulator",)
    if simulator is None:
        return None
    if case.input.turns:
        if not any(turn.respond for turn in case.input.turns):
            hint = "Write a prompt, after which the simulator goes on, or take the scenario out."
            reading.refuse("the messages of turns are written, and no simulator is asked for one", *place, hint=hint)
        return None
    options: dict[str, JsonValue] = {"instructions": simulator.scenario, **model_of(suite, case)}
    most = case.constraints.max_turns or suite.cases.defaults.max_turns or MOST
    if most == 1:
        reading.tell("with max_turns: 1 there is the prompt, and no simulator is asked", *place)
        return None
    check = Check(id="user_simulator", scorer=SIMULATED, options=options, origin=reading.document.origin(*place))
    return SimulatedUser(check=check, turns=most - 1)


def model_of(suite: EvalFile, case: CaseFile) -> dict[str, JsonValue]:
    """Return the option with the model that plays the user, if a file names one."""
    simulator = case.user_simulator
    model = (simulator.model if simulator else None) or (suite.user_simulator.model if suite.user_simulator else None)
    return {"model": name} if (name := _name(model)) else {}


def simulator_of(case: Case) -> dict[str, Any]:
    """Return the keys of a case file for the user of a case; empty if there is none, or one that cannot be written."""
    user = case.user
    if user is None or case.turns or user.check.scorer != SIMULATED:
        return {}
    options = user.check.options
    if options.keys() - {"instructions", "model"}:
        return {}
    model = {"model": options["model"]} if options.get("model") else {}
    return {"user_simulator": {"scenario": options["instructions"], **model}}


def _name(model: ModelFile | str | None) -> str:
    return model if isinstance(model, str) else model.name if model is not None else ""
