"""From an agent of the table to its engine."""

from __future__ import annotations

from .agents import Agent
from .claude import ClaudeEngine
from .codex import CodexEngine
from .engine import AcpEngine
from .gemini import GeminiEngine
from .options import AcpOptions

_ENGINES: dict[str, type[AcpEngine]] = {one.agent.name: one for one in (ClaudeEngine, CodexEngine, GeminiEngine)}


def make_engine(agent: Agent, options: AcpOptions) -> AcpEngine:
    """The engine of an agent."""
    return _ENGINES[agent.name](options)
