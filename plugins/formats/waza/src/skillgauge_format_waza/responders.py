"""Responders: users that a model plays."""

from __future__ import annotations

from typing import Any

from skillgauge.api import Case, Check, SimulatedUser

from .files import InputsFile
from .reading import Reading

_SCORER = "simulated-user"
_TURNS = 10
"""Messages of a user whose task gives no number."""


def user_of(reading: Reading, inputs: InputsFile) -> SimulatedUser | None:
    """Return the user that a model plays; `None` if there is none."""
    responder, place = inputs.responder, ("inputs", "responder")
    if responder is None:
        return None
    if inputs.follow_up_prompts:
        hint = "Take one of them out."
        reading.refuse("a task has follow_up_prompts or a responder, and not both", *place, hint=hint)
    if responder.max_followups is None:
        reading.tell(f"a responder without max_followups says {_TURNS} messages at most", *place)
    model = {"model": responder.model} if responder.model else {}
    options = {"instructions": responder.instructions, **model}
    check = Check(id="responder", scorer=_SCORER, options=options, origin=reading.document.origin(*place))
    return SimulatedUser(check=check, turns=responder.max_followups or _TURNS)


def responder(case: Case) -> dict[str, Any]:
    """Return the responder of a case; empty if it has another user, or none."""
    user = case.user
    if user is None or case.turns or user.check.scorer != _SCORER:
        return {}
    options = user.check.options
    if options.keys() - {"instructions", "model"}:
        return {}
    model = {"model": options["model"]} if options.get("model") else {}
    return {"instructions": options["instructions"], "max_followups": user.turns, **model}
