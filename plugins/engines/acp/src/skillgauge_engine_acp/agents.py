"""The agents that are known, as far as it must be known before one is started."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skillgauge.api import Fact
from skillgauge_agent_programs.claude.variables import ADDRESS_VARIABLES, DIVERTING_VARIABLES


@dataclass(frozen=True)
class Agent:
    """An agent that speaks the protocol."""

    name: str
    """As the user types it."""
    engine: str
    """Module and class of its engine."""
    summary: str
    command: str
    """What its program is called in PATH."""
    package: str
    """What npm installs it by."""
    version: str
    """The version it was tested with."""
    route: str
    """The service that it asks."""
    address: str
    """Base URL of that service."""
    variables: tuple[str, ...]
    """Environment variables, any one of which authenticates it."""
    address_variables: tuple[str, ...]
    """Environment variables that say where that service is, beside those that authenticate."""
    login_files: tuple[str, ...]
    login_hosts: tuple[str, ...]
    skill_folder: str
    inherited: tuple[str, ...]
    model: str
    """What it asks where nobody names a model."""
    model_patterns: tuple[str, ...]
    tells: frozenset[Fact]
    diverting_variables: tuple[str, ...] = ()
    """Environment variables by which it asks another service, which is not supported here."""
    installs: frozenset[str] = frozenset()
    """Kinds of what a case may give beside skills."""
    keeps_turns: bool = False
    """Whether it can be held to a limit of turns."""
    reopens: bool = False
    """Whether it goes on with a session that another process of it began."""


CLAUDE = Agent(
    name="claude-agent-acp",
    engine="skillgauge_engine_acp.claude:ClaudeEngine",
    summary="Claude Code by the Agent Client Protocol.",
    command="claude-agent-acp",
    package="@agentclientprotocol/claude-agent-acp",
    version="0.101.0",
    route="anthropic",
    address="https://api.anthropic.com",
    variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    address_variables=ADDRESS_VARIABLES,
    diverting_variables=DIVERTING_VARIABLES,
    login_files=(".claude/.credentials.json",),
    login_hosts=("api.anthropic.com",),
    skill_folder=".claude/skills",
    inherited=(".claude", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".mcp.json"),
    model="claude-sonnet-4-5",
    model_patterns=("claude*",),
    tells=frozenset(Fact),
    installs=frozenset({"servers"}),
    keeps_turns=True,
    reopens=True,
)
CODEX = Agent(
    name="codex-acp",
    engine="skillgauge_engine_acp.codex:CodexEngine",
    summary="Codex by the Agent Client Protocol.",
    command="codex-acp",
    package="@agentclientprotocol/codex-acp",
    version="2.6.0",
    route="openai",
    address="https://api.openai.com/v1",
    variables=("OPENAI_API_KEY", "CODEX_API_KEY"),
    address_variables=("OPENAI_BASE_URL",),
    login_files=(".codex/auth.json",),
    login_hosts=("chatgpt.com", "auth.openai.com", "api.openai.com"),
    skill_folder=".agents/skills",
    inherited=(".git",),  # up to there it reads AGENTS.md, .agents and .codex of every folder above
    model="gpt-5.5",
    model_patterns=("gpt-*", "o[0-9]*", "codex-*"),
    tells=frozenset({Fact.FIRED, Fact.USAGE}),
    reopens=True,
)
GEMINI = Agent(
    name="gemini",
    engine="skillgauge_engine_acp.gemini:GeminiEngine",
    summary="Gemini CLI by the Agent Client Protocol.",
    command="gemini",
    package="@google/gemini-cli",
    version="0.61.0",
    route="gemini",
    address="https://generativelanguage.googleapis.com",
    variables=("GEMINI_API_KEY",),
    address_variables=("GOOGLE_GEMINI_BASE_URL",),
    diverting_variables=(
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_VERTEX_BASE_URL",
        "CODE_ASSIST_ENDPOINT",
    ),
    login_files=(".gemini/oauth_creds.json",),
    login_hosts=("cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
    skill_folder=".gemini/skills",
    inherited=(".git", ".gemini", ".agents", "GEMINI.md"),
    model="gemini-2.5-flash",
    model_patterns=("gemini-*",),
    tells=frozenset({Fact.FIRED, Fact.USAGE}),
)
AGENTS: Iterable[Agent] = (CLAUDE, CODEX, GEMINI)
