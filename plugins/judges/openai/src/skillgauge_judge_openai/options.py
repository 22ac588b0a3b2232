"""What a user can set."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from skillgauge.api import Frozen

HOST = "api.openai.com"
BASE_URL = f"https://{HOST}/v1"
MODEL = "gpt-4o"
"""Asked at OpenAI's own address where nobody names a model, as eval-skills does."""
VARIABLES = ("EVAL_SKILLS_LLM_KEY", "OPENAI_API_KEY", "OPENAI_KEY")
"""Where the key is looked for, in this order, as eval-skills does."""


def _usable(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:  # the message must not repeat it
        raise ValueError("a URL with a password in it would be in results; the key belongs into the environment")
    is_plain = url.isascii() and url.isprintable() and " " not in url and not parts.query and not parts.fragment
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not is_plain:
        raise ValueError("must be an http or https URL without query")
    return url.rstrip("/")


class OpenAIOptions(Frozen):
    """Options of `openai`."""

    base_url: Annotated[str, AfterValidator(_usable)] = Field(
        default=BASE_URL, description="Where Chat Completions are served: `/chat/completions` is added."
    )
    model: str | None = Field(
        default=None, min_length=1, description=f"Model to ask; at OpenAI's own address {MODEL} by default."
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature where a check gives none; not sent by default."
    )
    timeout_s: float = Field(default=60.0, gt=0, le=3600, description="Seconds for one question, all in all.")
