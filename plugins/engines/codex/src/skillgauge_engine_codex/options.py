"""The options of the engine."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import EMPTY, JsonObject
from skillgauge_agent_programs.options import InstructedOptions

HOST = "api.openai.com"
INSTALLS = frozenset({"rule", "documents", "command", "agent", "hooks", "servers", "system-prompt"})
"""What an arm may give beside skills."""
BASE_URL = f"https://{HOST}/v1"
LOGIN_HOSTS = ("chatgpt.com", "auth.openai.com", HOST)
"""What a login reaches: the service of a subscription, its renewal, and the API for a login by key."""
KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")
ACCESS_TOKEN = "CODEX_ACCESS_TOKEN"
AZURE_KEY, AZURE_ENDPOINT, AZURE_PREFIX = "AZURE_API_KEY", "AZURE_API_ENDPOINT", "azure/"
ADDRESS_VARIABLES = ("OPENAI_BASE_URL",)
"""Where OpenAI's own libraries send a key. The program itself takes no address from the environment."""
LOGIN_FILE = ".codex/auth.json"


class SandboxMode(StrEnum):
    """The freedom that the program's own sandbox leaves to the agent's commands."""

    READ_ONLY = "read-only"
    WORKSPACE_WRITE = "workspace-write"
    NONE = "danger-full-access"


class CodexOptions(InstructedOptions):
    """Options of `codex`."""

    sandbox: SandboxMode = Field(
        default=SandboxMode.WORKSPACE_WRITE, description="The program's own sandbox, inside of skillgauge's."
    )
    config: JsonObject = Field(
        default=EMPTY, description="Settings as of config.toml by dotted keys, for example model_reasoning_effort."
    )
    hooks: JsonObject = Field(default=EMPTY, description="What hooks.json holds: the key `hooks` and all below it.")
