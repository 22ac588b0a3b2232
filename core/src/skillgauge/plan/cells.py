"""The cells of a run: which arms of which suites run, against which target, with which engine or adapter and model."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Problem, UsageError
from ..types.plan import Cell, SuitePlan
from ..types.suite import Arm, ArmKind, Limits, Suite, Target
from ..types.trial import Identity
from .adapters import Adapters
from .engines import Engines
from .options import EvalOptions

NOBODY = Identity(name="no engine")
"""Who stands in a plan for an engine that is missing, so that a dry run can show the rest; it never runs."""


@dataclass(frozen=True)
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
        targets = [target for target in suite.targets if not selection.targets or target.id in selection.targets]
        cells: list[Cell] = []
        for target in targets:
            agent_arms = []
            for arm in self._arms(suite):
                match arm.kind:
                    case ArmKind.DIRECT:
                        cells += self._direct(suite, arm, target, problems)
                    case ArmKind.AGENT:
                        agent_arms.append(arm)
            cells += self._agent(suite, tuple(agent_arms), target) if agent_arms else []
        return SuitePlan(suite, tuple(cells), selection)

    def _arms(self, suite: Suite) -> list[Arm]:
        wanted = self.options.how.baseline if self.options.how.baseline is not None else suite.defaults.baseline
        spare = {pair.baseline for pair in suite.comparisons} - {pair.candidate for pair in suite.comparisons}
        return [arm for arm in suite.arms if wanted or arm.name not in spare]

    def _direct(self, suite: Suite, arm: Arm, target: Target, problems: list[Problem]) -> list[Cell]:
        identity = self.adapters.identity(target, problems)
        limits = _limits(target, suite, self.options.how.direct_timeout_s)
        return [] if identity is None else [Cell(arm, identity, target, limits=limits)]

    def _agent(self, suite: Suite, arms: tuple[Arm, ...], target: Target) -> list[Cell]:
        """Arms of one engine lie together, so that drift of its service touches them alike."""
        cells = []
        for name, model in self._pairs(suite) or [("", None)]:
            setup = self.engines.find(name, self.missing, suite) if name else None
            if setup is None:
                cells += [Cell(arm, NOBODY, target, model) for arm in arms]
                continue
            identity = (bare := setup.engine.identity(model)).model_copy(update={"name": f"{bare.name}{setup.setting}"})
            self.engines.setups[identity.digest] = setup
            if setup.traits.skill_folder is None and any(arm.skills for arm in arms):
                message = f"engine {name!r} cannot use skills, and suite {suite.id!r} is about one"
                hint = f"Name one that can, or give it a folder for them: `skillgauge plugins info engines {name}`."
                self.missing.append(Problem("engine.no-skills", message, origin=suite.origin, hint=hint))
            kinds = {one.kind for arm in arms for one in arm.installs} - setup.traits.installs
            message = f"engine {name!r} cannot install {', '.join(sorted(kinds))} of suite {suite.id!r}"
            lacks = Problem("engine.no-installs", message, origin=suite.origin)
            self.missing.extend([lacks] if kinds and lacks not in self.missing else [])
            limits = _limits(target, suite, self.options.how.agent_timeout_s)
            cells += [Cell(arm, identity, target, identity.model or model, setup.traits.paid, limits) for arm in arms]
        return cells

    def _pairs(self, suite: Suite) -> list[tuple[str, str | None]]:
        """Engines with their models; where no engine is named, each model picks its own."""
        who = self.options.who
        named = who.engines or ((suite.defaults.engine,) if suite.defaults.engine else ())
        engines = (self.engines.player().name,) if who.replay else named
        models = who.models or (suite.defaults.model,)
        if not engines:
            found = [(self.engines.serving(model), model) for model in models]
            self.missing.extend(_no_engine(suite, *one) for one in found if len(one[0]) != 1)
            return [(names[0], model) for names, model in found if len(names) == 1]
        if len(engines) > 1 and len(models) not in (1, len(engines)):
            message = f"{len(models)} models for {len(engines)} engines"
            hint = "Give one model for all engines, one for each in the same order, or one engine for all models."
            raise UsageError(Problem("usage.models", message, hint=hint))
        lanes = range(max(len(engines), len(models)))
        return list(dict.fromkeys((engines[at % len(engines)], models[at % len(models)]) for at in lanes))


def _limits(target: Target, suite: Suite, timeout_s: float | None) -> Limits:
    """Return the limits of a target: its own before those of its suite, and a time limit where neither has one."""
    return target.limits.over(suite.defaults.limits).over(Limits(timeout_s=timeout_s))


def _no_engine(suite: Suite, able: tuple[str, ...], model: str | None) -> Problem:
    hint = "Name one with --engine NAME; to install one: pip install skillgauge-engine-claude-code"
    found = f"none that is installed serves {model!r}" if model else "none is installed"
    if able:
        found = f"several {f'serve {model!r}' if model else 'are installed'}: {', '.join(able)}"
        hint = f"Choose one: {' or '.join(f'--engine {name}' for name in able)}; `plugins doctor` says which work here."
    message = f"suite {suite.id!r} needs an agent engine, and {found}"
    return Problem("engine.none", message, origin=suite.origin, hint=hint)
