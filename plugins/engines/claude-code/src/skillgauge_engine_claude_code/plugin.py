"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Redirect, Traits, hookimpl
from skillgauge_agent_programs.claude.variables import ADDRESS_VARIABLES

from .options import HOST, INSTALLS, LOGIN_FILE, VARIABLES, ClaudeCodeOptions

_TRAITS = Traits(
    secrets=VARIABLES,
    login_files=(LOGIN_FILE,),
    model_hosts=(HOST,),
    redirects=tuple(Redirect(variable=name, option="gateway") for name in ADDRESS_VARIABLES),
    inherited=(".claude", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".mcp.json"),
    skill_folder=".claude/skills",
    installs=INSTALLS,
    conversations=True,
    model_patterns=("claude*", "anthropic.claude-*", "*.anthropic.claude-*", "arn:aws*:bedrock:*"),
    tells=frozenset(Fact),
    instructions="instructions",
    paid=True,
)


def _traits(options: ClaudeCodeOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    program = announced(options.program or "claude")
    if at_cloud := options.at_cloud():
        return _TRAITS.model_copy(
            update={
                "secrets": (*at_cloud.tokens, *at_cloud.secrets),
                "login_files": tuple(at_cloud.cloud.files.values()),
                "passes": options.secret_env,
                "model_hosts": at_cloud.hosts,
                **program,
            }
        )
    hosts = options.login_hosts((HOST,), ADDRESS_VARIABLES)
    return _TRAITS.model_copy(update={"passes": options.secret_env, "model_hosts": hosts, **program})


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `claude-code`."""
    yield Provider(
        name="claude-code",
        options=ClaudeCodeOptions,
        factory="skillgauge_engine_claude_code.engine:ClaudeCodeEngine",
        summary="Claude Code, by its program `claude`.",
        sessions="skillgauge_engine_claude_code.kept:ClaudeSessions",
        traits=_TRAITS,
        traits_with=_traits,
    )
