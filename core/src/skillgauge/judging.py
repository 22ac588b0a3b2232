"""Find the judge that a run asks for, by its name or by the id of a model that it serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from .errors import PluginError, Problem
from .protocols import Judge
from .registry import JUDGES, Registry, Resolved


@dataclass(frozen=True)
class Judging:
    """The judge of a run, if it has one."""

    judge: Judge | None = None
    digest: str = ""
    """Of what its answers depend on; part of every score id."""
    secrets: tuple[str, ...] = ()
    """Names of the variables that hold its key."""
    versions: dict[str, str] = field(default_factory=dict)
    """What makes a plan with another judge another plan."""


async def find_judge(name: str | None, model: str | None, registry: Registry) -> Judging:
    """The judge, ready to be asked.

    Args:
        name: an installed judge, or a model id; `None` if only a model is asked for.
        model: its model; `None` leaves it to the judge.
        registry: the run's plugins.

    Raises:
        PluginError: there is no such judge, or it says what keeps it from working.
    """
    if name is None and model is None:
        return Judging()
    if name is not None and name in registry.names("judges"):
        chosen = registry.resolve(JUDGES, name)
    else:
        chosen, model = _serving(name or model or "", registry), model or name
    judge = registry.make(JUDGES, chosen, {"model": model} if model else None)
    problems = await judge.check()
    if problems:
        raise PluginError(problems)
    digest = judge.identity(model).digest
    return Judging(judge, digest, chosen.provider.traits.secrets, {"judge identity": digest})


def _serving(model: str, registry: Registry) -> Resolved:
    """The one judge that claims a model id."""
    claims = [
        one
        for one in registry.load_all(JUDGES)
        if any(fnmatchcase(model, pattern) for pattern in one.provider.traits.model_patterns)
    ]
    if len(claims) == 1:
        return claims[0]
    known = ", ".join(registry.names("judges")) or "none"
    found = f"several judges claim it: {', '.join(one.name for one in claims)}" if claims else "no judge claims it"
    message = f"{model!r} is no installed judge (installed: {known}), and as a model id {found}"
    raise PluginError(Problem("plugin.not-installed", message, hint="Name both: --judge NAME --judge-model ID."))
