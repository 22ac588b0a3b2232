"""The installed agents that work here, and their keys and logins: names, never values."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import cast

from skillgauge.api import (
    Engine,
    Frozen,
    PluginError,
    Problem,
    Severity,
    Traits,
    UsageError,
    did_you_mean,
    host_environment,
)
from skillgauge.api.run import Invocation

PATIENCE_S = 60
"""How long the check of one engine may take: it starts a program to ask for its version."""


class FoundEngine(Frozen):
    """One installed engine as it is here."""

    name: str
    keys: tuple[str, ...] = ()
    """Environment variables that are set and that it takes for a key."""
    logins: tuple[str, ...] = ()
    """Files of a login that are there, below the home."""
    problems: tuple[str, ...] = ()
    """Why it does not work here; nothing if it does."""
    hints: tuple[str, ...] = ()
    """What to do about each of the problems; empty where nobody says."""
    facts: int = 0
    """How many facts it tells of a session, so that the best informed one is chosen."""

    @property
    def works(self) -> bool:
        """True if a run with it can begin."""
        return not self.problems

    @property
    def credentials(self) -> str:
        """The keys and logins that it would use, in words."""
        parts = [*(f"key {name}" for name in self.keys), *(f"login ~/{name}" for name in self.logins)]
        return ", ".join(parts) or "no key and no login"


def find_engines(call: Invocation, model: str | None) -> tuple[FoundEngine, ...]:
    """Every installed engine that a run could choose by itself, the best first.

    Those that play something back, and those that are taken only by name, are no agents to be found.
    """
    agents = [
        (resolved.name, traits)
        for resolved in call.registry.load_all("engines")
        if (traits := resolved.provider.traits).plays is None and not traits.only_by_name
    ]

    async def checked() -> list[tuple[Problem, ...]]:
        return await asyncio.gather(*(_problems(partial(_made, call, name), model) for name, _ in agents))

    answers = asyncio.run(checked())
    engines = [_examined(name, traits, problems) for (name, traits), problems in zip(agents, answers, strict=True)]
    return tuple(sorted(engines, key=lambda one: (not one.works, -one.facts, one.name)))


def choose(engines: tuple[FoundEngine, ...], name: str | None) -> FoundEngine:
    """The engine that was named, or the best of those that work.

    Raises:
        UsageError: there is none, and why.
    """
    if name is not None and name not in {engine.name for engine in engines}:
        names = [engine.name for engine in engines]
        message = f"engine {name!r} is not installed or cannot be chosen{did_you_mean(name, names)}"
        raise UsageError(Problem("init.engine", message, hint=f"Installed: {', '.join(names) or 'none'}."))
    candidates = [engine for engine in engines if name in (None, engine.name)]
    for engine in candidates:
        if engine.works:
            return engine
    problems = [
        Problem("init.engine", f"{engine.name}: {problem}", hint=hint or None)
        for engine in candidates
        for problem, hint in zip_longest(engine.problems, engine.hints, fillvalue="")
    ]
    hint = (
        "Install an agent's program and log in, or set its key; nothing was made. --model names what to ask. "
        "To try evals without an agent: --engine mock --set engines.mock.script=FILE."
    )
    raise UsageError([*problems, Problem("init.no-engine", "no engine works here", hint=hint)])


def _made(call: Invocation, name: str) -> Engine:
    resolved = call.registry.resolve("engines", name)
    return cast(Engine, resolved.provider.make(call.registry.validated_options(resolved)))


def _examined(name: str, traits: Traits, problems: tuple[Problem, ...]) -> FoundEngine:
    environment = host_environment()
    home = Path(environment.get("HOME") or Path.home())
    keys = tuple(name for name in traits.secrets if environment.get(name))
    logins = tuple(name for name in traits.login_files if (home / name).is_file())
    if not problems and traits.secrets and not keys and not logins:
        problems = (Problem("init.engine", f"none of {', '.join(traits.secrets)} is set, and there is no login"),)
    return FoundEngine(
        name=name,
        keys=keys,
        logins=logins,
        problems=tuple(one.message for one in problems),
        hints=tuple(one.hint or "" for one in problems),
        facts=len(traits.tells),
    )


async def _problems(make: Callable[[], Engine], model: str | None) -> tuple[Problem, ...]:
    """Return the problems of its own check; whatever else goes wrong in it is a reason, too."""
    try:
        engine = make()
        engine.identity(model)  # so that it checks what this model needs
        async with asyncio.timeout(PATIENCE_S):  # in this task: a `SystemExit` of another one would end them all
            problems = await engine.check()
    except PluginError as error:
        return error.problems
    except TimeoutError:
        return (Problem("init.engine", f"its check takes longer than {PATIENCE_S} s"),)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - isolation point: the other engines are still wanted
        return (Problem("init.engine", f"its check failed: {type(error).__name__}: {error}"),)
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR)
