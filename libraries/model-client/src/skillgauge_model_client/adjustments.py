"""Changes to a question that a server asks for in words: each is made once, and kept for the model from then on.

Servers that speak one API differ in which parameters a model takes, and only the refusal says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillgauge.api import FailureClass

from .answers import dig
from .outcomes import Unanswered

_UNSUPPORTED = ("support", "deprecated", "not allowed", "not permitted", "not enabled")
_INSTRUCTIONS = ("system role", "system message", "system prompt", "system instruction", "developer instruction")

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Adjustment:
    """One way to ask differently."""

    is_asked_for: Callable[[str], bool]
    """Takes the words of a refusal, in lower case."""
    change: Callable[[Body], dict[str, Any]]
    """Makes the body to ask with; an equal one where there is nothing to change."""


def _names_role(message: str) -> bool:
    """Tell whether a refusal is about the role `system`, which some models do not have."""
    is_role = "role" in message and ("'system'" in message or '"system"' in message)
    return is_role or any(words in message for words in _INSTRUCTIONS)


def _without_temperature(body: Body) -> dict[str, Any]:
    return {
        name: _without_temperature(value) if isinstance(value, dict) else value
        for name, value in body.items()
        if name != "temperature"
    }


def _with_completion_tokens(body: Body) -> dict[str, Any]:
    return {"max_completion_tokens" if name == "max_tokens" else name: value for name, value in body.items()}


def _without_system(body: Body) -> dict[str, Any]:
    """Put the system's text before the first words of the user, as chat templates do for models without that role."""
    if dig(body, "messages", 0, "role") == "system" and dig(body, "messages", 1, "role") == "user":
        system, user, *rest = body["messages"]
        first = {**user, "content": f"{system['content']}\n\n{user['content']}"}
        return {**body, "messages": [first, *rest]}
    text, parts = dig(body, "systemInstruction", "parts", 0, "text"), dig(body, "contents", 0, "parts")
    if text and parts:
        first = {**body["contents"][0], "parts": [{"text": text}, *parts]}
        others = {name: value for name, value in body.items() if name != "systemInstruction"}
        return {**others, "contents": [first, *body["contents"][1:]]}
    return dict(body)


ADJUSTMENTS = (
    Adjustment(
        lambda message: "temperature" in message and any(word in message for word in _UNSUPPORTED),
        _without_temperature,
    ),
    Adjustment(lambda message: "max_completion_tokens" in message, _with_completion_tokens),
    Adjustment(lambda message: _names_role(message) and any(word in message for word in _UNSUPPORTED), _without_system),
)


def next_adjustment(refusal: Unanswered, body: Body) -> Adjustment | None:
    """Return the change that a refusal asks for; `None` if it asks for none, or if the body is as asked already.

    Args:
        refusal: of the server.
        body: that was refused.
    """
    if refusal.kind is not FailureClass.BAD_REQUEST:
        return None
    message = refusal.told.lower()
    return next((one for one in ADJUSTMENTS if one.is_asked_for(message) and one.change(body) != body), None)
