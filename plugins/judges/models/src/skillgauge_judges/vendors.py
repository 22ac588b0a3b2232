"""The vendors whose models judge: addresses, keys and default models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Vendor:
    """Facts about the API of one vendor."""

    name: str
    """Name of the judge, as users type it."""
    host: str
    """Serves the vendor's own API."""
    path: str
    """Follows the host in the base URL."""
    address_variable: str
    """Environment variable with the base URL, for users who do not set the option."""
    key_variables: tuple[str, ...]
    """Environment variables that may hold the key; the first that is set counts."""
    usual_key_variable: str
    """The variable that a message recommends."""
    default_model: str
    """Asked at the vendor's own address if the user names no model."""
    model_patterns: tuple[str, ...]
    """Models that the vendor serves."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names of model families without a version, and the model that each stands for."""

    @property
    def base_url(self) -> str:
        """The vendor's own address."""
        return f"https://{self.host}{self.path}"


ANTHROPIC = Vendor(
    name="anthropic",
    host="api.anthropic.com",
    path="",
    address_variable="ANTHROPIC_BASE_URL",
    key_variables=("ANTHROPIC_API_KEY",),
    usual_key_variable="ANTHROPIC_API_KEY",
    default_model="claude-sonnet-4-5",
    model_patterns=("claude-*",),
    aliases={
        "claude-sonnet": "claude-sonnet-4-5",
        "claude-opus": "claude-opus-4-1",
        "claude-haiku": "claude-haiku-4-5",
    },
)
GEMINI = Vendor(
    name="gemini",
    host="generativelanguage.googleapis.com",
    path="",
    address_variable="GOOGLE_GEMINI_BASE_URL",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    usual_key_variable="GEMINI_API_KEY",
    default_model="gemini-2.5-flash",
    model_patterns=("gemini-*",),
)
OPENAI = Vendor(
    name="openai",
    host="api.openai.com",
    path="/v1",
    address_variable="OPENAI_BASE_URL",
    key_variables=("EVAL_SKILLS_LLM_KEY", "OPENAI_API_KEY", "OPENAI_KEY"),  # in the order of eval-skills
    usual_key_variable="OPENAI_API_KEY",
    default_model="gpt-4o",  # as eval-skills has it
    model_patterns=("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*"),
)
