"""The same evaluation in another process: what it is prepared from, and how.

An executor whose workers are processes of this machine gets a recipe with the run (`PortableRunTrial.recipe`) and gives
it to each of them. A worker prepares what the command line has prepared, and makes attempts of trials that are handed
to it; it keeps no results, tells no extension of events and writes no report.
"""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from ..contract.executors import RunTrial
from ..environment import ask_first
from ..errors import Problem, SuiteError
from ..log import loudness, set_loudness
from ..plan.options import EvalOptions
from ..plan.preparing import Prepared, prepare
from ..plugins.registry import Registry
from ..run.budget import OnSpent
from ..run.trials import RetryPolicy, TrialRunner
from ..terminal.streams import shown_streams


@dataclass(frozen=True)
class _Recipe:
    options: EvalOptions
    make_registry: Callable[[], Registry]
    plan_id: str
    loudness: tuple[int, bool | None]


def recipe_of(options: EvalOptions, prepared: Prepared, make_registry: Callable[[], Registry]) -> bytes:
    """What another process on this machine needs to prepare the same.

    Args:
        options: what the user asks for.
        prepared: what became of it here. Its sandbox is the workers', too, even if another would be chosen by then.
        make_registry: makes a registry of the run's plugins; it can be pickled.
    """
    sandbox = prepared.cast.sandbox.name if prepared.cast.sandbox else None
    who = replace(options.who, sandbox=sandbox, executor=None, store=None, store_given=False)
    plan_id = prepared.plan.head.plan_id
    return pickle.dumps(_Recipe(replace(options, who=who), make_registry, plan_id, loudness()))


@asynccontextmanager
async def worker(recipe: bytes, concurrency: int, on_spent: OnSpent | None = None) -> AsyncIterator[RunTrial]:
    """What makes attempts of trials in a process of an executor, each once: nothing is tried again here.

    Args:
        recipe: of the run.
        concurrency: how many attempts this process gets at once; services of judges are asked no more often at once.
        on_spent: takes a trial and what its attempt has used so far, each time that more of it is known, for
            `PortableRunTrial.spent` of the leading process.

    Raises:
        SkillgaugeError: the same evaluation cannot be prepared here.
    """
    given: _Recipe = pickle.loads(recipe)
    set_loudness(given.loudness)
    options = replace(given.options, how=replace(given.options.how, concurrency=concurrency))
    registry = given.make_registry()
    ask_first(registry.events)
    prepared = await prepare(options, registry)
    if prepared.plan.head.plan_id != given.plan_id:
        message = "a suite, a skill or a plugin has changed since the run began"
        raise SuiteError(Problem("suite.changed", message, hint="Run it again."))
    job = prepared.job
    async with AsyncExitStack() as stack:
        stack.enter_context(shown_streams())
        if job.close:
            stack.push_async_callback(job.close)
        stack.push_async_callback(job.grading.scorers.close)
        await job.grading.scorers.open()
        yield TrialRunner(job.stages, job.grading, retry=RetryPolicy(0), clean=job.clean, on_spent=on_spent)
