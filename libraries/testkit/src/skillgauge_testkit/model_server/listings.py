"""The other questions of programs: the models that there are, and the tokens that a request has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .requests import Conversation

_GEMINI = re.compile("/v1beta/models(?:/(?P<model>[^/]+))?")
_OTHERS = re.compile("/v1/models(?:/(?P<model>[^/]+))?")


def listed_models(path: str, names: Sequence[str], *, is_anthropic: bool) -> dict[str, Any] | None:
    """The list of models, or one of them, in the format that fits the path; `None`: nothing is there.

    Args:
        path: without its query.
        names: of the models.
        is_anthropic: whether the request is one of the Anthropic API, whose path others share.
    """
    if match := _GEMINI.fullmatch(path):
        entries = [_gemini(name) for name in _chosen(names, match["model"])]
        whole: dict[str, Any] = {"models": entries}
    elif match := _OTHERS.fullmatch(path):
        entries = [(_anthropic if is_anthropic else _openai)(name) for name in _chosen(names, match["model"])]
        whole = {"data": entries, "has_more": False} if is_anthropic else {"object": "list", "data": entries}
    else:
        return None
    if match["model"]:
        return entries[0] if entries else None
    return whole


def token_count(conversation: Conversation) -> int:
    """About how many tokens a conversation has: a quarter of its characters."""
    return 1 + sum(len(part.text) for part in conversation.parts) // 4


def _chosen(names: Sequence[str], name: str | None) -> list[str]:
    return [one for one in names if name in (None, one)]


def _anthropic(name: str) -> dict[str, Any]:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _openai(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "scripted"}


def _gemini(name: str) -> dict[str, Any]:
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
