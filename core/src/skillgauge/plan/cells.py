"""The cells of a run: which arms of which suites run, against which target, with which engine or adapter and model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from skillgauge_documents.immutables import immutable

from ..contract.providers import Traits
from ..errors import Problem, Severity, UsageError
from ..types.arms import Arm, ArmKind, Install
from ..types.plan import Cell, SuitePlan
from ..types.suite import Limits, Suite, Target
from ..types.trial import Identity
from .adapters import Adapters
from .engines import Engines
from .options import PAIRED, EvalOptions

NOBODY = Identity(name="no engine")
"""Who stands in a plan for an engine that is missing, so that a dry run can show the rest; it never runs."""


@immutable
class CellMaker:
    """Makes the cells of suites: who carries which arm out for which target."""

    adapters: Adapters
    engines: Engines
    options: EvalOptions
    missing: list[Problem]
    """Gets what keeps agents from carrying out what was planned."""

    def plan(self, suite: Suite, problems: list[Problem]) -> SuitePlan:
        """The cells of a suite, with a problem for everything of it that nobody could carry out."""
        selection = self.options.what.selection
        if not self.options.who.executes:
            return SuitePlan(suite, (), selection)
        cells: list[Cell] = []
        for target in suite.targets:
            if not selection.targets or target.id in selection.targets:
                cells += self._of_target(suite, target, problems)
        return SuitePlan(suite, tuple(cells), selection)

    def _of_target(self, suite: Suite, target: Target, problems: list[Problem]) -> list[Cell]:
        arms = self._arms(suite)
        cells: list[Cell] = []
        for arm in arms:
            if arm.kind is ArmKind.DIRECT:
                cells += self._direct(suite, arm, target, problems)
        if agent_arms := tuple(arm for arm in arms if arm.kind is ArmKind.AGENT):
            cells += self._agent(suite, agent_arms, target, problems)
        return cells

    def _arms(self, suite: Suite) -> list[Arm]:
        has_baseline = self.options.what.same or self.options.how.baseline
        if has_baseline is None:
            has_baseline = suite.defaults.baseline
        if has_baseline:
            return list(suite.arms)
        return [arm for arm in suite.arms if arm.name not in suite.mere_baselines]

    def _direct(self, suite: Suite, arm: Arm, target: Target, problems: list[Problem]) -> list[Cell]:
        identity = self.adapters.identity(target, problems)
        if identity is None:
            return []
        return [Cell(arm, identity, target, limits=_limits(target, suite, self.options.how.direct_timeout_s))]

    def _agent(self, suite: Suite, arms: tuple[Arm, ...], target: Target, problems: list[Problem]) -> list[Cell]:
        """Arms of one engine lie together, so that drift of its service touches them alike."""
        cells = []
        limits = _limits(target, suite, self.options.how.agent_timeout_s)
        for name, model in self._pairs(suite, problems) or [("", None)]:
            setup = self.engines.find(name, self.missing, suite) if name else None
            if setup is None:
                cells += [Cell(arm, NOBODY, target, model) for arm in arms]
                continue
            engine = setup.engine.identity(model)
            identity = engine.model_copy(update={"name": f"{engine.name}{setup.setting}"})
            self.engines.setups[identity.digest] = setup
            self._require_skills(name, setup.traits, suite, arms)
            self._require_installs(name, setup.traits, suite, arms)
            self._require_conversations(name, setup.traits, suite)
            cells += [Cell(arm, identity, target, identity.model or model, setup.traits.paid, limits) for arm in arms]
        return cells

    def _require_skills(self, engine: str, traits: Traits, suite: Suite, arms: tuple[Arm, ...]) -> None:
        """Note that an engine cannot use skills, if an arm has any."""
        if traits.skill_folder is None and any(arm.skills for arm in arms):
            message = f"engine {engine!r} cannot use skills, and suite {suite.id!r} is about one"
            hint = f"Name one that can, or give it a folder for them: `skillgauge plugins info engines {engine}`."
            self.missing.append(Problem("engine.no-skills", message, origin=suite.origin, hint=hint))

    def _require_installs(self, engine: str, traits: Traits, suite: Suite, arms: tuple[Arm, ...]) -> None:
        """Note what arms and cases have installed and an engine cannot install; a recording needs none of it."""
        if traits.plays:
            return
        kinds = _kinds(install for arm in arms for install in arm.installs) - traits.installs
        owners = [(kinds, f"suite {suite.id!r}", suite.origin)]
        cases = filter(self.options.what.selection.admits, suite.cases)
        owners += [(_kinds(case.installs) - traits.installs, f"case {case.id!r}", case.origin) for case in cases]
        for kinds, owner, origin in owners:
            message = f"engine {engine!r} cannot install {', '.join(sorted(kinds))} of {owner}"
            hint = "Name an engine that can, or leave it out; docs/agents.md says what each one installs."
            problem = Problem("engine.no-installs", message, origin=origin, hint=hint)
            if kinds and problem not in self.missing:
                self.missing.append(problem)

    def _require_conversations(self, engine: str, traits: Traits, suite: Suite) -> None:
        """Note that an engine cannot go on with a session, if a case has further turns."""
        if traits.conversations:
            return
        case = next((case for case in suite.cases if case.turns or case.user), None)
        if case is not None:
            message = f"engine {engine!r} cannot continue a session, and case {case.id!r} has several turns"
            hint = "Name one that can: `skillgauge plugins info engines NAME` tells."
            self.missing.append(Problem("engine.no-conversations", message, origin=case.origin, hint=hint))

    def _pairs(self, suite: Suite, problems: list[Problem]) -> list[tuple[str, str | None]]:
        """Return engines with their models; where no engine is named, each model picks its own."""
        names = self._engine_names(suite)
        models = self.options.who.models or (suite.defaults.model,)
        if not names:
            return self._pairs_by_model(suite, models)
        engines = [name for name in names if PAIRED not in name]
        misfits = self._misfits(suite, engines)
        pairs = {(engine, model): None for engine in engines for model in models if (engine, model) not in misfits}
        _require_all(engines, models, pairs)
        if misfits and (problem := _left_out(engines, models, misfits)) not in problems:
            problems.append(problem)
        return _in_order(names, pairs)

    def _misfits(self, suite: Suite, engines: Sequence[str]) -> set[tuple[str, str | None]]:
        """Return the combinations of these engines and the models of the user that no vendor offers.

        A single engine gets every model that the user names for it.
        """
        if len(engines) < 2:
            return set()
        setups = {name: self.engines.find(name, [], suite) for name in engines}  # its problems are noted with its cells
        return {
            (name, model)
            for model in self.options.who.models
            for name, setup in setups.items()
            if setup and not self.engines.fits(setup.traits, model)
        }

    def _engine_names(self, suite: Suite) -> tuple[str, ...]:
        if self.options.who.replay:
            return (self.engines.player().name,)
        return self.options.who.engines or tuple(filter(None, [suite.defaults.engine]))

    def _pairs_by_model(self, suite: Suite, models: Sequence[str | None]) -> list[tuple[str, str | None]]:
        pairs = []
        for model in models:
            engines = self.engines.serving(model)
            if len(engines) == 1:
                pairs.append((engines[0], model))
            else:
                self.missing.append(_no_engine(suite, engines, model))
        return pairs


def _in_order(names: Sequence[str], pairs: Collection[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """Return the pairs of a product, and those that the user names, in the order of the names."""
    ordered: list[tuple[str, str | None]] = []
    for name in names:
        engine, paired, model = name.partition(PAIRED)
        if paired:
            ordered.append((engine, model or None))
        else:
            ordered += [pair for pair in pairs if pair[0] == name]
    return list(dict.fromkeys(ordered))


def _require_all(
    engines: Sequence[str], models: Sequence[str | None], pairs: Collection[tuple[str, str | None]]
) -> None:
    """Refuse an engine or a model that takes part in no combination.

    Raises:
        UsageError: there is one.
    """
    if not engines:
        return
    serving, served = {engine for engine, _ in pairs}, {model for _, model in pairs}
    listed = ", ".join(map(str, models))
    found = [
        Problem("usage.models", f"engine {name!r} serves none of {listed}", hint=f"Name its own: --engine {name}/MODEL")
        for name in dict.fromkeys(engines)
        if name not in serving
    ]
    found += [
        Problem(
            "usage.models", f"none of {', '.join(engines)} serves {model!r}", hint=f"Pair it: --engine NAME/{model}"
        )
        for model in dict.fromkeys(models)
        if model not in served
    ]
    UsageError.raise_for(found)


def _left_out(
    engines: Sequence[str], models: Sequence[str | None], misfits: Collection[tuple[str, str | None]]
) -> Problem:
    """Return the warning that names what is left out of the product of engines and models."""
    names = [f"{name}/{model}" for name in engines for model in models if (name, model) in misfits]
    message = f"left out of the combinations, as the engine does not serve the model: {', '.join(names)}"
    hint = f"To run one all the same, name the pair: --engine {names[0]}"
    return Problem("engine.left-out", message, hint=hint, severity=Severity.WARNING)


def _kinds(installs: Iterable[Install]) -> set[str]:
    return {install.kind for install in installs}


def _limits(target: Target, suite: Suite, timeout_s: float | None) -> Limits:
    """Return the limits of a target: its own before those of its suite, and a time limit where neither has one."""
    return target.limits.over(suite.defaults.limits).over(Limits(timeout_s=timeout_s))


def _no_engine(suite: Suite, able: tuple[str, ...], model: str | None) -> Problem:
    many, nobody = "are installed", "none is installed"
    if model:
        many, nobody = f"serve {model!r}", f"none that is installed serves {model!r}"
    if able:
        reason = f"several {many}: {', '.join(able)}"
        choices = " or ".join(f"--engine {name}" for name in able)
        hint = f"Choose one: {choices}; `plugins doctor` says which work here."
    else:
        reason = nobody
        hint = "Name one with --engine NAME; to install one: pip install skillgauge-engine-claude-code"
    message = f"suite {suite.id!r} needs an agent engine, and {reason}"
    return Problem("engine.none", message, origin=suite.origin, hint=hint)
