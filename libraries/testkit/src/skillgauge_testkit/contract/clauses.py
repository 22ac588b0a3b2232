"""The check of a contract's clause: breaking it is an `AssertionError` with a sentence that names it.

Plugin code is called here and nowhere else in the kit, so that whatever it raises, and its never answering, become
such sentences too.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, cast
from uuid import uuid4

from pydantic import BaseModel

from skillgauge.api import Identity, Problem, Severity

P = ParamSpec("P")
T = TypeVar("T")

CANARY = "SKILLGAUGE_CONTRACT_CANARY"
"""Variable of this process's environment that no plugin is told to pass on."""

PATIENCE_S = 30.0
"""How long the kit waits for what should be immediate before it says that it never happens. No check passes or fails
by how fast something is."""

MIDWAY_S = 0.2
"""How long something runs before it is cancelled; what is asked of it must take longer."""


def require(holds: object, clause: str) -> None:
    """Go on if the clause holds.

    Raises:
        AssertionError: with the clause.
    """
    if not holds:
        raise AssertionError(clause)


def shown(value: object, limit: int = 300) -> str:
    """A value for a message, cut if it is long."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


@contextmanager
def unbroken(call: str) -> Iterator[None]:
    """Around plugin code that must not raise; `call` names what is called, and with what."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise AssertionError(f"{call} must not raise, but raised {type(error).__name__}: {error}") from error


def called(call: str, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Return the result of plugin code, which must not raise."""
    with unbroken(call):
        return function(*args, **named)


async def answered(
    call: str, patience_s: float, function: Callable[P, Awaitable[T]], *args: P.args, **named: P.kwargs
) -> T:
    """Return the result of a plugin's coroutine function, which must neither raise nor hang."""
    with unbroken(call):
        task = asyncio.ensure_future(function(*args, **named))
    await asyncio.wait({task}, timeout=patience_s)
    require(task.done(), f"{call} must come to an end, but did not within {patience_s:g} s")
    with unbroken(call):
        return task.result()


async def stops_when_cancelled(
    call: str, work: Coroutine[object, object, object], *, after_s: float, patience_s: float
) -> None:
    """Cancel a coroutine of a plugin while it works; it must end soon and let the cancellation through."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=after_s)
    outcome = _outcome(task)
    require(
        not task.done(), f"{call} was to be cancelled while it works, but {outcome}: give it work that takes longer"
    )
    task.cancel()
    await asyncio.wait({task}, timeout=patience_s)
    require(task.done(), f"{call} must stop when it is cancelled, but went on for {patience_s:g} s")
    require(task.cancelled(), f"{call} must let asyncio.CancelledError through, but {_outcome(task)}")


def _outcome(task: asyncio.Future[object]) -> str:
    if not task.done() or task.cancelled():
        return "was cancelled"
    error = task.exception()
    return f"raised {type(error).__name__}: {error}" if error else f"returned {shown(task.result())}"


def run(main: Coroutine[object, object, None]) -> None:
    """Run a check's coroutine. Unlike with `asyncio.run`, a task that refuses to be cancelled does not hang it."""
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main)
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=1))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@contextmanager
def canary() -> Iterator[str]:
    """A secret in the environment of this process, for the time of a check."""
    secret = f"canary{uuid4().hex}"
    os.environ[CANARY] = secret
    try:
        yield secret
    finally:
        os.environ.pop(CANARY, None)


def require_travels(value: BaseModel, call: str) -> None:
    """A value must come back equal from JSON and from pickle, because it is stored and sent to other processes."""
    with unbroken(f"{call}: writing {type(value).__name__} as JSON, or reading it back,"):
        again = type(value).model_validate_json(value.model_dump_json())
    if again != value:  # whose texts may be long, so they are made where they are needed
        raise AssertionError(f"{call}: {shown(value)} must come back equal from JSON, but came back as {shown(again)}")
    with unbroken(f"{call}: pickling {type(value).__name__}"):
        copied: object = pickle.loads(pickle.dumps(value))
    if copied != value:
        raise AssertionError(f"{call}: {shown(value)} must come back equal from pickle, but came back {shown(copied)}")


def require_identity(call: str, identify: Callable[[], Identity], again: Callable[[], Identity]) -> None:
    """An identity must have a name, be JSON-safe, and be the same whenever and from whichever object it is asked."""
    first = called(call, identify)
    require(isinstance(first, Identity), f"{call} must return an Identity, not {shown(first)}")
    require(first.name, f"{call} must give a name")
    require_travels(first, call)
    for second in (called(call, identify), called(call, again)):
        require(second == first, f"{call} must be stable, but was {shown(first)} and then {shown(second)}")
    with unbroken(f"{call}: its digest"):
        require(first.digest == first.model_copy().digest, f"{call}: its digest must be stable")


def require_usable(call: str, problems: object) -> None:
    """Check that `check` returns problems, none of which keeps the plugin from working."""
    require_problems(call, problems)
    errors = [problem for problem in cast("tuple[Problem, ...]", problems) if problem.severity is Severity.ERROR]
    messages = "; ".join(str(error) for error in errors)
    require(not errors, f"{call}: the contract can only be checked where the plugin works, but here: {messages}")


def require_problems(call: str, problems: object) -> None:
    """Problems come as a tuple, each with a code and a message."""
    right = isinstance(problems, tuple) and all(isinstance(problem, Problem) for problem in problems)
    require(right, f"{call} must return a tuple of Problem, not {shown(problems)}")
    for problem in cast("Iterable[Problem]", problems):
        require(
            problem.code and problem.message,
            f"{call}: every problem must have a code and a message, not {shown(problem)}",
        )
