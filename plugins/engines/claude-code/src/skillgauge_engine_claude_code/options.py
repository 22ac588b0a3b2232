"""The options of the engine."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skillgauge.api import EMPTY, HARMLESS, JsonObject, host_environment
from skillgauge_agent_programs.options import InstructedOptions

from .clouds import AtCloud, cloud_of

HOST = "api.anthropic.com"
BASE_URL = f"https://{HOST}"
KEY, TOKEN, SUBSCRIPTION = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"
VARIABLES = (KEY, TOKEN, SUBSCRIPTION)
LOGIN_FILE = ".claude/.credentials.json"
INSTALLS = frozenset({"rule", "documents", "command", "agent", "hooks", "servers", "system-prompt", "history"})
"""What an arm may give beside skills."""


class PermissionMode(StrEnum):
    """The permissions of the agent without asking; no user is there to be asked."""

    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    DONT_ASK = "dontAsk"
    BYPASS = "bypassPermissions"


class ClaudeCodeOptions(InstructedOptions):
    """Options of `claude-code`."""

    model: str | None = Field(
        default="claude-sonnet-4-5",
        min_length=1,
        description="Model to ask where nobody names one.",
        json_schema_extra=HARMLESS,
    )
    permission_mode: PermissionMode = Field(
        default=PermissionMode.ACCEPT_EDITS, description="What the agent may do unasked."
    )
    allowed_tools: tuple[str, ...] = Field(
        default=("Bash",),
        description="Tools that it may use unasked whatever the mode, as --allowedTools takes them; always Skill.",
    )
    settings: JsonObject = Field(
        default=EMPTY, description="Settings as of settings.json, for example hooks; the workspace's own count besides."
    )

    def at_cloud(self) -> AtCloud | None:
        """Return the cloud that the environment sends the program to, unless `base_url` says where it asks."""
        return None if self.base_url is not None else cloud_of(host_environment())
