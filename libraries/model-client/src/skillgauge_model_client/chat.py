"""Chat Completions, whoever serves them: where a question goes, and how it authenticates."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from .keys import Key


def chat_path(base_url: str, model: str, api_version: str | None) -> str:
    """Return the path and query below a base URL.

    Azure's deployments have a path of their own, with a version; the model is the deployment's name, unless the base
    URL names one.

    Args:
        base_url: where the API is served.
        model: the model that is asked.
        api_version: of Azure; `None` anywhere else.
    """
    if api_version is None:
        return "/chat/completions"
    deployment = "" if "/deployments/" in base_url else f"/openai/deployments/{quote(model, safe='')}"
    return f"{deployment}/chat/completions?api-version={quote(api_version, safe='')}"


def chat_headers(key: Key | None, api_version: str | None) -> Mapping[str, str]:
    """Return the headers that carry a key; Azure's deployments want it in one of their own."""
    if key is None:
        return {}
    return {"Authorization": f"Bearer {key.value}"} if api_version is None else {"api-key": key.value}
