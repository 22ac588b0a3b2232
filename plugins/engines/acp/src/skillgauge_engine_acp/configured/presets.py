"""Descriptions of agents that come with the plugin, so that a user names one without describing anything.

Each of them asks a server that speaks OpenAI's language, with a key: a relay can stand between them then. What a
program knows beyond that (a login, another vendor's language) is for a description of the user's own, whose keys go
before those here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skillgauge.api import JsonObject

_OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Preset:
    """An agent that is known well enough to be described."""

    command: str
    """Name of its program in PATH."""
    install: str
    """A command line that installs it."""
    tested: str
    """The version for which the description holds."""
    description: JsonObject
    """Options of the engine."""


_COPILOT = Preset(
    "copilot",
    "npm install -g @github/copilot@1.0.102",
    "1.0.102",
    {
        "argv": ("copilot", "--acp"),
        "agent_name": "Copilot",
        "skill_folder": ".agents/skills",
        "skill_tool": "Using skill",
        "own_words": ("Error: ", "Info: "),
        "usage": "final",
        "key_variable": "COPILOT_PROVIDER_API_KEY",
        "base_url": _OPENAI,
        "env": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": "{address}",
            "COPILOT_MODEL": "{model}",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "completions",
        },
    },
)
_QWEN = Preset(
    "qwen",
    "npm install -g @qwen-code/qwen-code@0.24.4",
    "0.24.4",
    {
        "argv": ("qwen", "--acp", "--yolo"),
        "agent_name": "qwen-code",
        "skill_folder": ".qwen/skills",
        "skill_tool": "skill",
        "usage": "messages",
        "key_variable": "OPENAI_API_KEY",
        "base_url": _OPENAI,
        "env": {"OPENAI_BASE_URL": "{address}", "OPENAI_MODEL": "{model}"},
        "files": {
            ".qwen/settings.json": {
                "security": {"auth": {"selectedType": "openai"}},
                # Else it waits ten times for one to five minutes; whether to ask again is up to the run.
                "model": {"generationConfig": {"maxRetries": 0}},
                "general": {"enableAutoUpdate": False},
                "privacy": {"usageStatisticsEnabled": False},
                "telemetry": {"enabled": False},
            },
        },
    },
)
_OPENCODE = Preset(
    "opencode",
    "npm install -g opencode-ai@1.18.34",
    "1.18.34",
    {
        "argv": ("opencode", "acp"),
        "agent_name": "OpenCode",
        "needs": ("rg",),  # its tool for skills lists their files with it, and fails without
        "skill_folder": ".agents/skills",
        "skill_tool": "skill",
        "usage": "files",  # its last answer tells the tokens of the last call alone
        "usage_files": ".local/share/opencode/opencode.db",
        "usage_table": "message",
        "usage_keys": {
            "input_tokens": "data.tokens.input",
            "cache_read_tokens": "data.tokens.cache.read",
            "cache_write_tokens": "data.tokens.cache.write",
            "output_without_reasoning_tokens": "data.tokens.output",
            "reasoning_tokens": "data.tokens.reasoning",
        },
        "key_variable": "OPENAI_API_KEY",
        "base_url": _OPENAI,
        "env": {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        },
        "files": {
            ".config/opencode/opencode.json": {
                "autoupdate": False,
                "share": "disabled",
                "model": "skillgauge/{model}",
                "small_model": "skillgauge/{model}",
                "permission": {"*": "allow"},
                "agent": {"title": {"disable": True}},  # a call whose tokens are in no message
                "provider": {
                    "skillgauge": {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": "skillgauge",
                        "options": {"baseURL": "{address}", "apiKey": "{env:OPENAI_API_KEY}"},
                        "models": {"{model}": {"name": "{model}"}},
                    },
                },
            },
        },
    },
)
_CLINE_SERVER = "openai-compatible"
_CLINE = Preset(
    "cline",
    "npm install -g cline@3.0.65",
    "3.0.65",
    {
        "argv": ("cline", "--acp"),
        "agent_name": "cline",
        "skill_folder": ".agents/skills",
        "skill_tool": "skills",
        "usage": "files",
        "usage_files": ".cline/data/sessions/*/*.messages.json",
        "usage_keys": {
            "input_with_cache_tokens": "metrics.inputTokens",
            "cache_read_tokens": "metrics.cacheReadTokens",
            "cache_write_tokens": "metrics.cacheWriteTokens",
            "output_tokens": "metrics.outputTokens",
        },
        "key_variable": "CLINE_API_KEY",  # with which it wants no login
        "base_url": _OPENAI,
        "env": {"CLINE_PROVIDER": _CLINE_SERVER, "CLINE_MODEL": "{model}", "CLINE_TELEMETRY_DISABLED": "1"},
        "files": {
            ".cline/data/settings/providers.json": {
                "version": 1,
                "lastUsedProvider": _CLINE_SERVER,
                "modes": {},
                "providers": {
                    _CLINE_SERVER: {
                        "settings": {"provider": _CLINE_SERVER, "model": "{model}", "baseUrl": "{address}"},
                        "updatedAt": "2026-01-01T00:00:00.000Z",
                        "tokenSource": "manual",
                    },
                },
            },
            # A model that is in no list would be replaced by another one without a word.
            ".cline/data/settings/models.json": {
                "version": 1,
                "providers": {_CLINE_SERVER: {"models": {"{model}": {"id": "{model}", "name": "{model}"}}}},
            },
        },
    },
)
# A title would be a call whose tokens the program does not report.
_VIBE_SETTINGS = """\
active_model = "{model}"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
[session_logging]
generate_titles = false
[[providers]]
name = "skillgauge"
api_base = "{address}"
api_key_env_var = "MISTRAL_API_KEY"
[[models]]
name = "{model}"
provider = "skillgauge"
alias = "{model}"
"""
_VIBE = Preset(
    "vibe-acp",
    "uv tool install mistral-vibe==3.0.3",
    "3.0.3",
    {
        "argv": ("vibe-acp",),
        "agent_name": "@mistralai/mistral-vibe",
        "skill_folder": ".agents/skills",
        "skill_tool": "skill",
        "usage": "final",
        "key_variable": "MISTRAL_API_KEY",
        "base_url": "https://api.mistral.ai/v1",
        "files": {
            ".vibe/config.toml": _VIBE_SETTINGS,
            ".vibe/trusted_folders.toml": 'trusted = ["{workspace}"]\nuntrusted = []\n',
        },
    },
)
PRESETS: Mapping[str, Preset] = {
    "cline": _CLINE,
    "copilot": _COPILOT,
    "opencode": _OPENCODE,
    "qwen": _QWEN,
    "vibe": _VIBE,
}
"""By the name behind `acp:`."""
