"""What carries trials out: the adapters and engines of a run, and the cells they make of its suites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..contract.adapters import Adapter
from ..contract.engines import Engine, Recorder
from ..contract.providers import Clean, Traits, imported
from ..errors import Origin, PluginError, Problem, Severity, UsageError
from ..plugins.events import Failed, isolated
from ..plugins.kinds import ADAPTERS, ENGINES, Resolved, broken
from ..plugins.registry import Registry
from ..plugins.traits import claims, traits_of
from ..reading.environment import host_environment
from ..run.agents import AgentSetup
from ..types.frozen import EMPTY
from ..types.plan import Cell, Selection, SuitePlan
from ..types.suite import NO_LIMITS, Arm, ArmKind, Limits, Suite, Target
from ..types.trial import Identity


@dataclass(frozen=True)
class Choice:
    """What the user wants trials to be carried out by, and which of them."""

    selection: Selection
    engines: tuple[str, ...] = ()
    """Empty leaves it to the suite, then to the model, or to the only one installed."""
    replay: Path | None = None
    """Folder of recordings that take the place of engines."""
    models: tuple[str, ...] = ()
    """One for all engines, or one for each."""
    baseline: bool | None = None
    """Whether arms that are only baselines run; `None` leaves it to the suite."""
    direct_limits: Limits = NO_LIMITS
    """For direct calls, where neither a case, nor the user for this run, nor a suite sets one."""
    agent_limits: Limits = NO_LIMITS
    """For sessions of agents, likewise."""


class Runners:
    """Makes the cells of suites; every adapter and engine is made once.

    Args:
        registry: the run's plugins.
        choice: what the user wants.
    """

    def __init__(self, registry: Registry, choice: Choice) -> None:
        self.adapters = Adapters(registry)
        self.engines = Engines(registry, choice.replay)
        self._choice = choice

    def plan(self, suite: Suite, problems: list[Problem]) -> SuitePlan:
        """The cells of a suite, with a problem for everything that cannot be carried out."""
        wanted = self._choice.selection.targets
        targets = [target for target in suite.targets if not wanted or target.id in wanted]
        cells: list[Cell] = []
        for target in targets:
            agent_arms = []
            for arm in self._arms(suite):
                match arm.kind:
                    case ArmKind.DIRECT:
                        cells += self._direct(suite, arm, target, problems)
                    case ArmKind.AGENT:
                        agent_arms.append(arm)
            cells += self._agent(suite, tuple(agent_arms), target, problems) if agent_arms else []
        return SuitePlan(suite, tuple(cells), self._choice.selection)

    def _arms(self, suite: Suite) -> list[Arm]:
        wanted = self._choice.baseline if self._choice.baseline is not None else suite.defaults.baseline
        spare = {pair.baseline for pair in suite.comparisons} - {pair.candidate for pair in suite.comparisons}
        return [arm for arm in suite.arms if wanted or arm.name not in spare]

    def _direct(self, suite: Suite, arm: Arm, target: Target, problems: list[Problem]) -> list[Cell]:
        identity = self.adapters.identity(target, problems)
        limits = target.limits.over(suite.defaults.limits).over(self._choice.direct_limits)
        return [] if identity is None else [Cell(arm, identity, target, limits=limits)]

    def _agent(self, suite: Suite, arms: tuple[Arm, ...], target: Target, problems: list[Problem]) -> list[Cell]:
        """Arms of one engine lie together, so that drift of its service touches them alike."""
        cells = []
        for name, model in self._pairs(suite, problems):
            engine = self.engines.find(name, problems, suite.origin)
            if engine is None:
                continue
            identity = engine.identity(model)
            self.engines.use(name, identity)
            without_skills = self.engines.setups[identity.name].skill_folder is None
            if without_skills and any(arm.skills for arm in arms):
                message = f"engine {name!r} cannot use skills, and suite {suite.id!r} is about one"
                problems.append(Problem("engine.no-skills", message, origin=suite.origin))
            paid = self.engines.is_paid(name)
            limits = target.limits.over(suite.defaults.limits).over(self._choice.agent_limits)
            cells += [Cell(arm, identity, target, identity.model or model, paid, limits) for arm in arms]
        return cells

    def _pairs(self, suite: Suite, problems: list[Problem]) -> list[tuple[str, str | None]]:
        """Engines with their models; where no engine is named, each model picks its own."""
        engines = self._choice.engines or ((suite.defaults.engine,) if suite.defaults.engine else ())
        models = self._choice.models or ((suite.defaults.model,) if suite.defaults.model else ())
        if self._choice.replay:
            engines = (self.engines.player().name,)
        if not engines:
            found = [(self.engines.serving(model), model) for model in models or (None,)]
            problems += [_no_engine(suite, *one) for one in found if len(one[0]) != 1]
            return [(names[0], model) for names, model in found if len(names) == 1]
        if len(models) > 1 and len(models) != len(engines):
            message = f"{len(models)} models for {len(engines)} engines"
            hint = "Give one model for all engines, or one for each in the same order."
            raise UsageError(Problem("usage.models", message, hint=hint))
        return [(name, models[min(at, len(models) - 1)] if models else None) for at, name in enumerate(engines)]


def _no_engine(suite: Suite, able: tuple[str, ...], model: str | None) -> Problem:
    hint = "Name one with --engine NAME; to install one: pip install skillgauge-engine-claude-code"
    found = f"none that is installed serves {model!r}" if model else "none is installed"
    if able:
        found = f"several {f'serve {model!r}' if model else 'are installed'}: {', '.join(able)}"
        hint = f"Choose one: {' or '.join(f'--engine {name}' for name in able)}."
    message = f"suite {suite.id!r} needs an agent engine, and {found}"
    return Problem("engine.none", message, origin=suite.origin, hint=hint)


class Adapters:
    """The adapters of a run, each made once, with what is wrong with them and their targets."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, Adapter] = {}

    def identity(self, target: Target, problems: list[Problem]) -> Identity | None:
        """What calls of a target depend on; `None` and a problem if it cannot be called."""
        name = target.adapter
        if name is None:
            problems.append(
                Problem("suite.no-adapter", f"target {target.id!r} cannot be called directly", origin=target.origin)
            )
            return None
        if name not in self._made:
            try:
                self._made[name] = self._registry.make(ADAPTERS, name)
            except PluginError as error:
                problems.extend(_at(problem, target.origin_of("adapter")) for problem in error.problems)
                return None
        adapter = self._made[name]
        found = adapter.check_target(target)
        problems.extend(_at(problem, target.origin_of("config")) for problem in found)
        if any(problem.severity is Severity.ERROR for problem in found):
            return None
        return adapter.identity(target)

    def of(self, target: Target) -> Adapter:
        """The adapter of a target that has an identity."""
        return self._made[target.adapter or ""]

    async def problems(self) -> list[Problem]:
        """What keeps any of the adapters from working here."""
        return [problem for adapter in self._made.values() for problem in await adapter.check()]


class Engines:
    """The engines of a run, each made once.

    Args:
        registry: the run's plugins.
        replay: folder of the recordings that one of them plays.
    """

    def __init__(self, registry: Registry, replay: Path | None = None) -> None:
        self._registry = registry
        self._replay = replay
        self._made: dict[str, tuple[Traits, Engine]] = {}
        self.setups: dict[str, AgentSetup] = {}
        """Engines in use, by the name of their identity."""

    def serving(self, model: str | None) -> tuple[str, ...]:
        """Engines for a model where the user names none: the only one installed, else those that claim the model's id.

        Engines that announce that nobody gets them unasked do not count.
        """
        found = {one.name: one for one in self._registry.load_all("engines") if not one.provider.traits.only_by_name}
        return (
            tuple(found)
            if len(found) == 1 or model is None
            else tuple(name for name, one in found.items() if claims(one, model))
        )

    def find(self, name: str, problems: list[Problem], origin: Origin | None) -> Engine | None:
        """An engine by its name; `None` and a problem if there is none that works."""
        if name not in self._made:
            try:
                self._made[name] = self._make(name)
            except PluginError as error:
                problems.extend(_at(problem, origin) for problem in error.problems)
                return None
        return self._made[name][1]

    def player(self) -> Resolved:
        """The installed engine that plays recordings back, and makes what writes them.

        Raises:
            PluginError: there is none, or there are several.
        """
        found = [one for one in self._registry.load_all("engines") if one.provider.traits.plays]
        if len(found) == 1:
            return found[0]
        if not found:
            hint = "pip install skillgauge-engine-replay"
            raise PluginError(Problem("plugin.not-installed", "no installed engine plays recordings", hint=hint))
        listed = ", ".join(f"{one.name} of {one.distribution}" for one in found)
        message = f"several engines play recordings: {listed}"
        raise PluginError(Problem("plugin.ambiguous", message, hint="Leave all but one out, with --no-plugin NAME."))

    def recorder(self, folder: Path, clean: Clean) -> Recorder:
        """What keeps the sessions of a run in a folder.

        Raises:
            PluginError: no installed engine plays recordings, or the one that does makes none.
        """
        player = self.player()
        if player.provider.records is None:
            raise PluginError(broken(player, "plays recordings and makes none"))
        try:
            with isolated():
                return imported(player.provider.records)(folder, clean)
        except Failed as failure:
            raise PluginError(broken(player, f"cannot record: {failure}")) from failure

    def _make(self, name: str) -> tuple[Traits, Engine]:
        resolved = self._registry.resolve(ENGINES, name)
        place = resolved.provider.traits.plays
        options = {place: str(self._replay)} if place and self._replay else EMPTY
        return traits_of(resolved, self._registry, options), self._registry.make(ENGINES, resolved, options)

    def use(self, name: str, identity: Identity) -> None:
        """Note under which name an engine's trials will ask for it."""
        traits, engine = self._made[name]
        self.setups[identity.name] = AgentSetup(engine, traits.skill_folder, traits.inherited, traits.model_hosts)

    def is_paid(self, name: str) -> bool:
        """Whether its sessions cost money."""
        return self._made[name][0].paid

    def traits(self) -> dict[str, Traits]:
        """Of every engine in use, by its name."""
        return {name: traits for name, (traits, _) in self._made.items()}

    def secrets(self) -> tuple[str, ...]:
        """Names of the variables that the processes of the engines in use may see, keys among them."""
        return tuple(name for traits, _ in self._made.values() for name in (*traits.secrets, *traits.passes))

    def login_files(self) -> tuple[str, ...]:
        """Credential files, relative to the user's home, that engines in use may read for want of a key."""
        environment = host_environment()
        without_key = (one for one, _ in self._made.values() if not any(environment.get(name) for name in one.secrets))
        return tuple(dict.fromkeys(file for traits in without_key for file in traits.login_files))

    async def problems(self) -> list[Problem]:
        """What keeps any of the engines from working here."""
        return [problem for _, engine in self._made.values() for problem in await engine.check()]


def _at(problem: Problem, origin: Origin | None) -> Problem:
    return problem if problem.origin or origin is None else replace(problem, origin=origin)
