"""A worker: prepares what the command line has prepared, and makes attempts of trials that are handed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, chdir
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...contract.executors import Keeper, RunTrial
from ...contract.recipe import Recipe
from ...contract.sandboxes import Tier
from ...environment import ask_first
from ...errors import PluginError, Problem, SkillgaugeError, SuiteError
from ...log import set_loudness
from ...plan.preparing import Prepared, prepare
from ...plan.resources import ChosenSandbox, choose_sandbox
from ...plugins.collecting import collected
from ...terminal.streams import shown_streams
from .parts_here import PartsHere
from .places import Place
from .recipes import differences, missing_secrets, options_of, other_files, read_recipe

if TYPE_CHECKING:
    from ...run.agents import OnStep
    from ...run.budget import OnSpent
    from ...types.results.trials import TrialResult
    from ...types.trial import Trial

_STRENGTH = (Tier.NONE, Tier.PARTIAL, Tier.STRICT)


@asynccontextmanager
async def worker(
    recipe: bytes,
    concurrency: int,
    on_spent: OnSpent | None = None,
    keeper: Keeper | None = None,
    on_step: OnStep | None = None,
    *,
    folder: Path | None = None,
    home: Path | None = None,
) -> AsyncIterator[RunTrial]:
    """Make attempts of trials in a process of an executor, each once: nothing is tried again here.

    Args:
        recipe: of the run.
        concurrency: how many attempts this process gets at once; services of judges are asked no more often at once.
        on_spent: takes a trial and what its attempt has used so far, each time that more of it is known, for
            `PortableRunTrial.spent` of the leading process.
        keeper: hands executions that are to be kept to `PortableRunTrial.keep` of the leading process, and what that
            process has kept to the attempt. Without one, what was finished is executed again when a worker dies.
        on_step: takes a trial and what its agent has just done, for `PortableRunTrial.step` of the leading process.
        folder: where the files of the run were laid down; this process works there then. `None`: in its own folder.
        home: below it are the places of the run that begin with `~/`; `None`: the user's.

    Raises:
        SkillgaugeError: this process must not make attempts of the run, with every reason at once: Python,
            distributions, secrets, the sandbox, and what engines and other plugins lack here. With another plugin file
            than the run's nothing more is looked at, since that would execute it.
    """
    from ...run.trials import RetryPolicy, TrialRunner  # noqa: PLC0415 - only in a worker

    needs = read_recipe(recipe)
    set_loudness(needs.loudness)
    async with AsyncExitStack() as stack:
        place = Place(folder or Path.cwd(), home)
        stack.enter_context(chdir(place.cwd))
        prepared = await _admitted(needs, place, concurrency, list(_written(needs, folder)))
        job = prepared.job
        if on_step and job.watch_agents:
            job.watch_agents(on_step)
        stack.enter_context(shown_streams())
        if job.close:
            stack.push_async_callback(job.close)
        stack.push_async_callback(job.grading.scorers.close)
        await job.grading.scorers.open()
        retry = RetryPolicy(0)
        runner = TrialRunner(job.stages, job.grading, retry, clean=job.clean, on_spent=on_spent, keeper=keeper)
        parts = PartsHere(prepared.plan)

        async def run_trial(trial: Trial) -> TrialResult:
            return await runner(parts.of(trial))

        yield run_trial


def _written(needs: Recipe, folder: Path | None) -> Iterator[Problem]:
    """Yield what a run would write into a folder of its own, where nobody looks for it."""
    if folder is not None and needs.who.get("record"):
        hint = "Record in one process, without --executor, or start the workers in a folder that all of them share."
        yield Problem("worker.record", "recordings would be written where nobody finds them", hint=hint)


async def _admitted(needs: Recipe, place: Place, concurrency: int, against: list[Problem]) -> Prepared:
    """Prepare the run of a recipe.

    Args:
        needs: the recipe.
        place: where its files are.
        concurrency: attempts at once.
        against: what already speaks against it; then nothing is prepared.

    Raises:
        SkillgaugeError: every reason why this process must not make its attempts.
    """
    reasons = [*missing_secrets(needs), *differences(needs)]
    against = [*other_files(needs, place), *against]
    if against:
        raise PluginError([*reasons, *against])
    prepared = None
    try:
        prepared = await _prepared(needs, place, concurrency, reasons)
    except SkillgaugeError as error:
        reasons += error.problems
    except Exception:
        PluginError.raise_for(reasons)  # of another version, anything may fail
        raise
    PluginError.raise_for(list(dict.fromkeys(reasons)))
    assert prepared is not None  # nothing was against it
    if prepared.plan.head.plan_id != needs.plan_id:
        message = "a suite, a skill or a plugin has changed since the run began"
        raise SuiteError(Problem("suite.changed", message, hint="Run it again."))
    return prepared


async def _prepared(needs: Recipe, place: Place, concurrency: int, reasons: list[Problem]) -> Prepared:
    """Prepare what a recipe asks for, and tell of a sandbox that is too weak even if there are other reasons."""
    options, plugins = options_of(needs, place)
    registry = plugins.registry()
    ask_first(registry.events)
    try:
        prepared = await prepare(replace(options, how=replace(options.how, concurrency=concurrency)), registry)
    except SkillgaugeError:
        if needs.tier:
            with collected(reasons):
                chosen = await choose_sandbox(options.who.sandbox, registry, untrusted=options.how.untrusted)
                reasons += _too_weak(chosen, needs.tier)
        raise
    reasons += _too_weak(prepared.cast.sandbox, needs.tier)
    return prepared


def _too_weak(chosen: ChosenSandbox | None, tier: Tier | None) -> list[Problem]:
    if tier is None or chosen is None or _STRENGTH.index(chosen.report.tier) >= _STRENGTH.index(tier):
        return []
    message = f"sandbox {chosen.name!r} is {chosen.report.tier} here, and the run has {tier}"
    hint = f"Make it as strong here, see `skillgauge plugins doctor {chosen.name}`."
    return [Problem("worker.sandbox", message, hint=hint)]
