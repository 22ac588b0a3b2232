"""The judges of a run: found by name or by the id of a model, and guarded on the way to scorers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import zip_longest

from skillgauge_documents.immutables import immutable
from skillgauge_documents.phrases import listed

from ..contract.judges import Judge
from ..contract.providers import Traits
from ..environment import files_at_home, secret
from ..errors import PluginError, Problem, Severity, SuiteError, errors_among
from ..plugins.collecting import collected, found_by
from ..plugins.kinds import ENGINES, JUDGES, Resolved
from ..plugins.registry import Registry
from ..run.services import service_of
from ..types.suite import Suite
from ..types.trial import Identity
from .checks.judges import panel_problems, unpaired_models
from .options import Who

_FILES_SHOWN = 5


@immutable
class FoundJudge:
    """A judge, with what its answers depend on and what it announces."""

    judge: Judge
    identity: Identity
    traits: Traits
    starts_programs: bool = False
    """Whether it may start programs of this machine, outside of the run's sandbox."""


@immutable
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
    def starting_programs(self) -> tuple[str, ...]:
        """Names of judges that may start programs of this machine, outside of the run's sandbox."""
        return tuple(judge.identity.name for judge in self.found if judge.starts_programs)

    @property
    def spenders(self) -> dict[str, Traits]:
        """Judges that cost money, by their names in messages, with what they announce."""
        return {f"judge {judge.identity.name!r}": judge.traits for judge in self.found if judge.traits.paid}

    async def check(self) -> list[Problem]:
        """Return what is wrong with them, each asked what keeps it from working."""
        return [*self.problems, *await found_by(one.judge.check() for one in self.found)]


def wanted_judges(who: Who, suites: Sequence[Suite], registry: Registry) -> tuple[Sequence[str], Sequence[str]]:
    """Return names and models of judges as the user gives them, else as the suites do; a configured model comes last.

    Raises:
        SuiteError: the suites name different ones, and the user none.
    """
    if who.judges or (who.judge_models and not who.judge_model_is_default):
        return who.judges, _fitting(who, who.judges, registry)
    defaults = {(suite.defaults.judge, suite.defaults.judge_model) for suite in suites} - {(None, None)}
    if len(defaults) > 1:
        raise SuiteError(_different_judges(defaults))
    name, model = next(iter(defaults), (None, None))
    names = tuple(filter(None, [name]))
    if model:
        return names, (model,)
    return names, _fitting(who, names, registry)


def _fitting(who: Who, names: Sequence[str], registry: Registry) -> Sequence[str]:
    """The models that the user gives; a configured one not for a judge that takes none, or none that another serves."""
    if not who.judge_model_is_default or not names:
        return who.judge_models
    if len(names) > 1 or names[0] not in registry.names("judges"):
        return ()  # a panel, or a model id
    judge = registry.resolve(JUDGES, names[0])
    if "model" not in judge.provider.options.model_fields:
        return ()
    others = [other for other in registry.load_all(JUDGES) if other.name != judge.name]
    return tuple(
        model for model in who.judge_models if judge.serves(model) or not any(other.serves(model) for other in others)
    )


def _different_judges(defaults: Iterable[tuple[str | None, str | None]]) -> Problem:
    judges = ", ".join(sorted(name or model or "" for name, model in defaults))
    message = f"the suites name different judges: {judges}"
    return Problem("suite.judges", message, hint="Name one with --judge, or evaluate them separately.")


def find_judges(
    names: Sequence[str],
    models: Sequence[str],
    temperature: float | None,
    registry: Registry,
    runners: Sequence[Identity] = (),
    files: Sequence[str] = (),
) -> Judging:
    """The judges, not checked yet, or what is wrong with them.

    Args:
        names: installed judges, or model ids, of which each picks the judge that serves it.
        models: one for each judge; none leaves it to them. Without names, each picks its judge.
        temperature: at which they answer; `None` leaves it to each.
        registry: the run's plugins.
        runners: everybody who carries trials out, who decide where neither name nor model is given.
        files: files with checks that need a judge, for the message that there is none.
    """
    problems: list[Problem] = []
    if not names and not models:
        names, models = _unnamed(runners, registry, problems)
        if not names:
            problems.append(_no_judge(registry, files))
    if unpaired := tuple(unpaired_models(len(names), len(models))):
        return Judging(problems=unpaired)
    judges = []
    for name, model in zip_longest(names, models):
        with collected(problems):
            judges.append(_find(name, model, temperature, registry, problems))
    if errors_among(problems):
        return Judging(problems=tuple(problems))
    return Judging(tuple(judges), (*problems, *panel_problems([judge.identity for judge in judges])))


def _unnamed(
    runners: Sequence[Identity], registry: Registry, problems: list[Problem]
) -> tuple[Sequence[str], Sequence[str]]:
    """Choose the judge at the address that all runners ask, if it can be asked: nothing of theirs goes elsewhere."""
    services = {service_of(runner) for runner in runners}
    if len(services) != 1:
        return [], []
    for judge in _candidates(runners, registry):
        service = _service_at_hand(judge, registry)
        if service is not None and services == {service_of(service)}:
            message = f"no judge is named: {judge.name!r} is asked, at {service.service}, as the agents are"
            hint = "Name one with --judge."
            problems.append(Problem("judge.unnamed", message, hint=hint, severity=Severity.WARNING))
            models = [runner.model for runner in runners if runner.model and judge.serves(runner.model)]
            return [judge.name], models[:1]
    return [], []


def _installed(registry: Registry) -> str:
    return ", ".join(registry.names("judges")) or "none"


def _no_judge(registry: Registry, files: Sequence[str]) -> Problem:
    message = "some checks need a judge, and no judge is named"
    if files:
        message += f": {listed(files, _FILES_SHOWN)}"
    hint = f"Name one with --judge NAME (installed: {_installed(registry)}), or skip these cases with --without-judged."
    return Problem("judge.none", message, hint=hint)


def _candidates(runners: Sequence[Identity], registry: Registry) -> list[Resolved]:
    """Return the judges that may have the service of all runners; where it has no address, only one of their name."""
    if all(runner.service for runner in runners):
        return _fastest_first(registry)
    names = {runner.name for runner in runners} & set(registry.names("judges"))
    return [registry.resolve(JUDGES, name) for name in sorted(names)]


def _fastest_first(registry: Registry) -> list[Resolved]:
    """Return the judges by name, those last that may use a login: they ask an agent's program, slower than an API."""
    return sorted(registry.load_all(JUDGES), key=lambda judge: (bool(registry.traits(judge).login_files), judge.name))


def _service_at_hand(judge: Resolved, registry: Registry) -> Identity | None:
    """Return the identity of a judge of a service that can be asked from here; `None` for any other judge."""
    with suppress(PluginError):  # the user did not name it
        identity = registry.make(JUDGES, judge).identity(None)
        if identity.service and _has_access(registry.traits(judge)):
            return identity
    return None


def _has_access(traits: Traits) -> bool:
    """Tell whether a key or a login is here, or none is needed."""
    if not traits.secrets and not traits.login_files:
        return True
    return any(map(secret, traits.secrets)) or bool(files_at_home(traits.login_files))


def _find(
    name: str | None, model: str | None, temperature: float | None, registry: Registry, notices: list[Problem]
) -> FoundJudge:
    if name is None:
        chosen = _serving(model or "", registry)
    elif name in registry.names("judges"):
        chosen = registry.resolve(JUDGES, name)
    else:
        chosen = _serving(name, registry)
        notices.append(_taken_for_model(name, model, chosen))
        model = name
    known = chosen.provider.options.model_fields
    options: dict[str, str | float | None] = {"model": model}
    if "temperature" in known:
        options["temperature"] = temperature
    judge = registry.make(JUDGES, chosen, {key: value for key, value in options.items() if value is not None})
    traits = registry.traits(chosen)
    starts_programs = chosen.provider.uses == ENGINES and not traits.remote
    return FoundJudge(judge, judge.identity(model), traits, starts_programs)


def _taken_for_model(name: str, model: str | None, chosen: Resolved) -> Problem:
    instead = f", and not for {model!r}" if model not in (None, name) else ""
    message = f"{name!r} is no installed judge; {chosen.name!r} is asked for the model of that id{instead}"
    return Problem("judge.model-id", message, severity=Severity.WARNING)


def _serving(model: str, registry: Registry) -> Resolved:
    """Return the only judge that claims a model id."""
    able = [judge for judge in registry.load_all(JUDGES) if judge.serves(model)]
    if len(able) == 1:
        return able[0]
    claims = f"several judges claim it: {', '.join(judge.name for judge in able)}" if able else "no judge claims it"
    message = f"{model!r} is no installed judge (installed: {_installed(registry)}), and as a model id {claims}"
    raise PluginError(Problem("plugin.not-installed", message, hint="Name both: --judge NAME --judge-model ID."))
