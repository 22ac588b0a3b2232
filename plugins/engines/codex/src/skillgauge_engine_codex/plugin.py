"""Announces the engine; what it does is in `engine`."""

from __future__ import annotations

from collections.abc import Iterable

from skillgauge.api import Engine, Fact, Provider, Redirect, Traits, hookimpl

from .options import ACCESS_TOKEN, ADDRESS_VARIABLES, AZURE_KEY, INSTALLS, KEYS, LOGIN_FILE, LOGIN_HOSTS, CodexOptions

_TRAITS = Traits(
    secrets=(*KEYS, ACCESS_TOKEN, AZURE_KEY),
    login_files=(LOGIN_FILE,),
    model_hosts=LOGIN_HOSTS,
    redirects=tuple(Redirect(variable=name, option="gateway") for name in ADDRESS_VARIABLES),
    inherited=(".git",),  # up to there it reads AGENTS.md, .agents and .codex of every folder above
    skill_folder=".agents/skills",
    installs=INSTALLS,
    conversations=True,
    model_patterns=("gpt-*", "o[0-9]*", "codex-*", "azure/*"),
    tells=frozenset(Fact) - {Fact.COST},
    instructions="instructions",
    paid=True,
)


def _traits(options: CodexOptions) -> Traits:
    from skillgauge_agent_programs.programs import announced  # noqa: PLC0415 - few commands need it

    return _TRAITS.model_copy(update={"passes": options.secret_env, **announced(options.program or "codex")})


@hookimpl
def skillgauge_engines() -> Iterable[Provider[Engine]]:
    """Announce `codex`."""
    yield Provider(
        name="codex",
        options=CodexOptions,
        factory="skillgauge_engine_codex.engine:CodexEngine",
        summary="Codex, by its program `codex`.",
        sessions="skillgauge_engine_codex.kept:CodexSessions",
        traits=_TRAITS,
        traits_with=_traits,
    )
