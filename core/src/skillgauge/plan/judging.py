"""The judges of a run: found by name or by the id of a model, and guarded on the way to scorers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from ..contract.judges import Judge
from ..contract.providers import Traits
from ..environment import host_environment, secret
from ..errors import PluginError, Problem, Severity, SuiteError
from ..plugins.collecting import collected
from ..plugins.kinds import JUDGES, Resolved
from ..plugins.registry import Registry
from ..run.services import service_of
from ..types.suite import Suite
from ..types.trial import Identity
from .checks.judges import panel_problems, unpaired_models


@dataclass(frozen=True)
class FoundJudge:
    """A judge, with what its answers depend on and what it announces."""

    judge: Judge
    identity: Identity
    traits: Traits


@dataclass(frozen=True)
class Judging:
    """The judges of a run, in the order in which they were named."""

    found: tuple[FoundJudge, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What keeps them from working, and notices; of interest only to a run that needs a judge."""

    @property
    def digest(self) -> str:
        """Of everything their answers depend on; part of every score id."""
        return "|".join(one.identity.digest for one in self.found)

    @property
    def spenders(self) -> dict[str, Traits]:
        """Judges that cost money, by their names in messages, with what they announce."""
        return {f"judge {judge.identity.name!r}": judge.traits for judge in self.found if judge.traits.paid}


def wanted_judges(
    names: Sequence[str], models: Sequence[str], suites: Sequence[Suite]
) -> tuple[Sequence[str], Sequence[str]]:
    """Names and models of judges as the user gives them, else as the suites do.

    Raises:
        SuiteError: the suites name different ones, and the user none.
    """
    told = {(suite.defaults.judge, suite.defaults.judge_model) for suite in suites} - {(None, None)}
    if names or models or not told:
        return names, models
    if len(told) > 1:
        found = ", ".join(sorted(name or model or "" for name, model in told))
        message = f"the suites name different judges: {found}"
        raise SuiteError(Problem("suite.judges", message, hint="Name one with --judge, or evaluate them separately."))
    ((name, model),) = told
    return (name,) if name else (), (model,) if model else ()


def find_judges(
    names: Sequence[str],
    models: Sequence[str],
    temperature: float | None,
    registry: Registry,
    runners: Sequence[Identity] = (),
) -> Judging:
    """The judges, not checked yet, or what is wrong with them.

    Args:
        names: installed judges, or model ids, of which each picks the judge that serves it.
        models: one for each judge; none leaves it to them. Without names, each picks its judge.
        temperature: at which they answer; `None` leaves it to each.
        registry: the run's plugins.
        runners: everybody who carries trials out, who decide where neither name nor model is given.
    """
    problems: list[Problem] = []
    if not names and not models:
        names, models = _unnamed(runners, registry, problems)
    if unpaired := tuple(unpaired_models(len(names), len(models))):
        return Judging(problems=unpaired)
    found = []
    for name, model in zip_longest(names, models):
        with collected(problems):
            found.append(_find(name, model, temperature, registry, problems))
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Judging(problems=tuple(problems))
    return Judging(tuple(found), (*problems, *panel_problems([judge.identity for judge in found])))


async def checked(judging: Judging) -> Judging:
    """The same judges, each asked what keeps it from working."""
    found = [problem for one in judging.found for problem in await one.judge.check()]
    return replace(judging, problems=(*judging.problems, *found))


def _unnamed(
    runners: Sequence[Identity], registry: Registry, told: list[Problem]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The judge at the address that all runners ask, if its key or login is here: nothing of theirs goes elsewhere."""
    asked = {service_of(one) for one in runners}
    # Who may use a login comes last: it asks an agent's program, which is slower than the API that a key is enough for.
    able = [(bool(registry.traits(one).login_files), one.name, one) for one in registry.load_all(JUDGES)]
    for _, _, one in sorted(able, key=lambda found: found[:2]):
        with suppress(PluginError):  # nobody named it
            identity = registry.make(JUDGES, one).identity(None)
            if identity.service and asked == {service_of(identity)} and _is_known(registry.traits(one)):
                message = f"no judge is named: {one.name!r} is asked, at {identity.service}, as the agents are"
                told.append(Problem("judge.unnamed", message, hint="Name one with --judge.", severity=Severity.WARNING))
                return (one.name,), tuple({run.model: 0 for run in runners if run.model and one.serves(run.model)})[:1]
    hint = f"Name one with --judge NAME (installed: {', '.join(registry.names('judges')) or 'none'}), or configure one."
    told.append(Problem("judge.none", "some checks need a judge, and no judge is named", hint=hint))
    return (), ()


def _is_known(traits: Traits) -> bool:
    """Whether a key or a login is here, or none is needed."""
    home = host_environment().get("HOME", "")
    needs_none = not traits.secrets and not traits.login_files
    return (
        needs_none
        or any(map(secret, traits.secrets))
        or any(home and Path(home, file).is_file() for file in traits.login_files)
    )


def _find(
    name: str | None, model: str | None, temperature: float | None, registry: Registry, notices: list[Problem]
) -> FoundJudge:
    if name is not None and name in registry.names("judges"):
        chosen = registry.resolve(JUDGES, name)
    else:
        chosen = _serving(name or model or "", registry)
        if name is not None:
            instead = f", and not for {model!r}" if model not in (None, name) else ""
            message = f"{name!r} is no installed judge; {chosen.name!r} is asked for the model of that id{instead}"
            notices.append(Problem("judge.model-id", message, severity=Severity.WARNING))
            model = name
    asked = {"model": model, "temperature": temperature}
    judge = registry.make(JUDGES, chosen, {key: value for key, value in asked.items() if value is not None} or None)
    return FoundJudge(judge, judge.identity(model), registry.traits(chosen))


def _serving(model: str, registry: Registry) -> Resolved:
    """The one judge that claims a model id."""
    able = [one for one in registry.load_all(JUDGES) if one.serves(model)]
    if len(able) == 1:
        return able[0]
    known = ", ".join(registry.names("judges")) or "none"
    found = f"several judges claim it: {', '.join(one.name for one in able)}" if able else "no judge claims it"
    message = f"{model!r} is no installed judge (installed: {known}), and as a model id {found}"
    raise PluginError(Problem("plugin.not-installed", message, hint="Name both: --judge NAME --judge-model ID."))
