"""Prepare what a command line asks for, and tell what of it has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..config.trusting import leading_out, takes_part
from ..errors import Problem, Severity, SkillgaugeError, UsageError
from ..plan.options import EvalOptions
from ..plan.preparing import Prepared, prepare
from ..plugins.kinds import ENGINES
from .arguments import words
from .invocation import Invocation
from .quarantine import quarantined


async def prepare_run(call: Invocation, options: EvalOptions) -> Prepared:
    """Prepare what will run: under the rules of the quarantine, and with what executors elsewhere need.

    Raises:
        SkillgaugeError: as `prepare_trusted`.
    """
    prepared = quarantined(await prepare_trusted(call, options), call.config)
    if not options.who.executor:
        return prepared
    from .worker import recipe_of  # noqa: PLC0415 - only for trials that run elsewhere

    recipe = recipe_of(options, prepared, call.make_registry)
    return replace(prepared, job=replace(prepared.job, recipe=recipe))


async def prepare_trusted(call: Invocation, options: EvalOptions) -> Prepared:
    """Prepare, and tell what the folder's configuration asks for and does not get. What the run stores is signed.

    Raises:
        SkillgaugeError: as `prepare`; or who takes part would be others, or set otherwise, if the file were trusted.
    """
    if options.how.untrusted and (out := leading_out(call.config, call.cwd)):
        raise UsageError(out)
    try:
        prepared = await prepare(options, call.registry)
    except SkillgaugeError as error:
        error.problems += tuple(call.held_back())
        raise
    ask = not (options.how.dry_run or options.how.untrusted)
    held = call.held_back(lambda one: ask and takes_part(one, prepared, call.registry))
    if any(problem.severity is Severity.ERROR for problem in held):
        raise UsageError(held)
    call.listener.problems((*held, *_unused(call, options, prepared)))
    return replace(prepared, job=replace(prepared.job, store=call.signing(prepared.job.store)))


def _unused(call: Invocation, options: EvalOptions, prepared: Prepared) -> Iterator[Problem]:
    """What the command says of agents where none takes part.

    Raises:
        PluginError: it names an engine that is not installed.
    """
    if prepared.cast.engines.setups:
        return
    configured = words([call.config.get("engine") or ""])
    named = [name for name in options.who.engines if name not in configured]
    for name in named:
        call.registry.resolve(ENGINES, name)
    if named or options.who.replay:
        message = f"{'--engine' if named else '--replay'} has no effect: what is evaluated here is called directly"
        yield Problem("usage.unused", message, hint="Leave it out.", severity=Severity.WARNING)
