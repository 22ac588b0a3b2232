"""A worker: prepares what the command line has prepared, and makes attempts of trials that are handed to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...contract.executors import Keeper, RunTrial
from ...contract.sandboxes import Tier
from ...environment import ask_first
from ...errors import PluginError, Problem, SuiteError
from ...log import set_loudness
from ...plan.preparing import Prepared, prepare
from ...terminal.streams import shown_streams
from .recipes import differences, options_of, read_recipe

if TYPE_CHECKING:
    from ...run.agents import OnStep
    from ...run.budget import OnSpent

_STRENGTH = (Tier.NONE, Tier.PARTIAL, Tier.STRICT)


@asynccontextmanager
async def worker(
    recipe: bytes,
    concurrency: int,
    on_spent: OnSpent | None = None,
    keeper: Keeper | None = None,
    on_step: OnStep | None = None,
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

    Raises:
        SkillgaugeError: the same evaluation cannot be prepared here, with every reason that is known; before
            anything of it is prepared if the installation is another one, or a secret is missing.
    """
    from ...run.trials import RetryPolicy, TrialRunner  # noqa: PLC0415 - only in a worker

    content, cwd = read_recipe(recipe), Path.cwd()
    set_loudness(content.loudness)
    PluginError.raise_for(differences(content, cwd))
    options, plugins = options_of(content, cwd)
    registry = plugins.registry()
    ask_first(registry.events)
    prepared = await prepare(replace(options, how=replace(options.how, concurrency=concurrency)), registry)
    PluginError.raise_for(_too_weak(prepared, content.tier))
    if prepared.plan.head.plan_id != content.plan_id:
        message = "a suite, a skill or a plugin has changed since the run began"
        raise SuiteError(Problem("suite.changed", message, hint="Run it again."))
    job = prepared.job
    if on_step and job.watch_agents:
        job.watch_agents(on_step)
    async with AsyncExitStack() as stack:
        stack.enter_context(shown_streams())
        if job.close:
            stack.push_async_callback(job.close)
        stack.push_async_callback(job.grading.scorers.close)
        await job.grading.scorers.open()
        retry = RetryPolicy(0)
        yield TrialRunner(job.stages, job.grading, retry, clean=job.clean, on_spent=on_spent, keeper=keeper)


def _too_weak(prepared: Prepared, tier: Tier | None) -> list[Problem]:
    chosen = prepared.cast.sandbox
    if tier is None or chosen is None or _STRENGTH.index(chosen.report.tier) >= _STRENGTH.index(tier):
        return []
    message = f"sandbox {chosen.name!r} is {chosen.report.tier} here, and the run has {tier}"
    hint = f"Make it as strong here, see `skillgauge plugins doctor {chosen.name}`."
    return [Problem("worker.sandbox", message, hint=hint)]
