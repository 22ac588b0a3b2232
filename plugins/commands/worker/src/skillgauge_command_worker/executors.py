"""The executor that a worker is for, among those that have workers elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from pydantic import BaseModel

from skillgauge.api import Problem, UsageError
from skillgauge.api.run import Invocation
from skillgauge_workers import Offer, Serve


@dataclass(frozen=True)
class Host:
    """The function of an executor that serves its runs, with the options of that executor."""

    executor: str
    _options: BaseModel
    _serve: Serve

    async def serve(self, offer: Offer, tell: Callable[[str], None]) -> None:
        """Serve runs until the worker is stopped, or the other end is gone."""
        await self._serve(self._options, offer, tell)


def find_host(call: Invocation, name: str | None) -> Host:
    """Return the executor of a name, or the only one that has workers elsewhere.

    Raises:
        UsageError: it has none, there is none at all, or there are several.
        PluginError: it cannot be used, or its options are wrong.
    """
    registry = call.registry
    if name is not None:
        executors = [registry.resolve("executors", name)]
    else:
        executors = [one for one in registry.load_all("executors") if one.provider.worker]
    if len(executors) > 1:
        names = ", ".join(one.name for one in executors)
        raise _usage(f"several executors have such workers: {names}", "Name one: --executor NAME.")
    if not executors:
        raise _usage("no installed executor has workers on other machines", "pip install 'skillgauge[dask]'")
    (executor,) = executors
    serve = executor.provider.worker
    if serve is None:
        hint = "Only executors whose workers are elsewhere need one."
        raise _usage(f"executor {executor.name!r} has no workers that are started by this command", hint)
    if isinstance(serve, str):
        module, _, attribute = serve.partition(":")
        serve = getattr(import_module(module), attribute)
    return Host(executor.name, registry.validated_options(executor), serve)


def _usage(message: str, hint: str) -> UsageError:
    return UsageError(Problem("worker.executor", message, hint=hint))
