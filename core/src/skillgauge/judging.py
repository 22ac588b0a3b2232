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
    problems: tuple[Problem, ...] = ()
    """What keeps it from working; of interest only to a run that needs a judge."""


async def find_judge(name: str | None, model: str | None, temperature: float | None, registry: Registry) -> Judging:
    """The judge, ready to be asked, or what is wrong with it.

    Args:
        name: an installed judge, or a model id; `None` if only a model is asked for.
        model: its model; `None` leaves it to the judge.
        temperature: at which it answers; `None` leaves it to the judge.
        registry: the run's plugins.
    """
    if name is None and model is None:
        return Judging()
    try:
        if name is not None and name in registry.names("judges"):
            chosen = registry.resolve(JUDGES, name)
        else:
            chosen, model = _serving(name or model or "", registry), model or name
        asked = {"model": model, "temperature": temperature}
        judge = registry.make(JUDGES, chosen, {key: value for key, value in asked.items() if value is not None} or None)
    except PluginError as error:
        return Judging(problems=tuple(error.problems))
    digest = judge.identity(model).digest
    versions = {"judge identity": digest}
    return Judging(judge, digest, chosen.provider.traits.secrets, versions, tuple(await judge.check()))


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
