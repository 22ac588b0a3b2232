"""Look at a run in a browser while it goes on, with a viewer that a plugin brings.

The kernel knows no viewer. A distribution brings one by an entry point of the group `run_viewers`, a `RunViewer`: an
evaluation that keeps its results asks it for the address of the run that begins, and opens it for `eval --view`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

from ...errors import Problem, Severity, SkillgaugeError, UsageError
from ...log import one_line
from ...plugins.index import install_hint_of_any

if TYPE_CHECKING:
    from ...contract.stores import Store
    from ...types.results.runs import RunInfo
    from ..invocation import Invocation

RUN_VIEWERS = "run_viewers"
"""Entry point group of viewers."""


class ViewedRun(Protocol):
    """A viewer that was started for a run, and lives until it is closed."""

    address: str
    """Opens the page of the run."""

    def wait(self) -> None:
        """Return when somebody ends the viewer; Ctrl-C does."""

    def close(self) -> None:
        """End it."""


class RunViewer(Protocol):
    """Shows the runs of stores in a browser."""

    def address(self, call: Invocation, run_id: str) -> str | None:
        """Return the address of a run of the configured store in a viewer that is running; `None` if there is none.

        It is asked at the beginning of every run, so it waits for nothing.
        """

    def open(self, call: Invocation, run_id: str) -> ViewedRun:
        """Start a viewer of the configured store at the page of a run, and show it in a browser. Blocks.

        Raises:
            PluginError: it does not start.
        """


def viewers(call: Invocation) -> Iterator[tuple[str, RunViewer]]:
    """Yield the viewers that this command may use, each with the distribution that brings it; broken ones are told."""
    from ...contract.providers import imported  # noqa: PLC0415 - slow, and only runs that begin need one

    for entry in call.usable(RUN_VIEWERS):
        try:
            viewer = cast("RunViewer", imported(entry.module))
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end for want of a viewer
            call.listener.problems((_broken(entry.distribution, error),))
        else:
            yield entry.distribution, viewer


def addresses(call: Invocation, run_id: str) -> Iterator[str]:
    """Yield the address of a run in each viewer that is running; a viewer that fails is told of."""
    for distribution, viewer in viewers(call):
        try:
            address = viewer.address(call, run_id)
        except Exception as error:  # noqa: BLE001 - as above
            call.listener.problems((_broken(distribution, error),))
        else:
            if address:
                yield address


def _broken(distribution: str, error: Exception) -> Problem:
    return Problem("viewer.broken", f"{distribution} cannot show runs: {one_line(error)}", severity=Severity.WARNING)


class Viewing:
    """Opens the page of one run when it begins: `eval --view`.

    Args:
        call: the command line.
        store: where the run will be kept.

    Raises:
        UsageError: no viewer is installed, or nothing of the run is kept that it could read.
    """

    def __init__(self, call: Invocation, store: Store | None) -> None:
        self._call = call
        if store is None or not store.durable:
            hint = "Keep the run: leave out --store none, or name a store with --store."
            raise UsageError(Problem("usage.view", "--view needs a store, and this run is kept in none", hint=hint))
        found = next(viewers(self._call), None)
        if found is None:
            hint = install_hint_of_any(RUN_VIEWERS)
            raise UsageError(Problem("usage.view", "--view needs a viewer, and none is installed", hint=hint))
        _, self._viewer = found
        self._opening: asyncio.Task[None] | None = None
        self._opened: ViewedRun | None = None

    def begin(self, run: RunInfo) -> None:
        """Open the page of a run that begins, while it goes on; call it in the thread of the event loop."""
        self._opening = asyncio.get_running_loop().create_task(self._open(run.run_id))

    async def _open(self, run_id: str) -> None:
        try:
            self._opened = await asyncio.to_thread(self._viewer.open, self._call, run_id)
        except SkillgaugeError as error:  # the run goes on without it
            self._call.listener.problems(error.problems)
        except Exception as error:  # noqa: BLE001 - isolation point: a run must not end for want of a viewer
            self._call.listener.problems((Problem("viewer.broken", f"the viewer failed: {one_line(error)}"),))
        else:
            self._call.listener.notice(f"look at this run: {self._opened.address}")

    async def ready(self) -> None:
        """Wait until the page is open, or could not be opened."""
        if self._opening is not None:
            await self._opening

    def wait(self) -> None:
        """Keep the pages until somebody ends the viewer."""
        if self._opened is not None:
            self._opened.wait()

    def close(self) -> None:
        """End the viewer."""
        if self._opened is not None:
            self._opened.close()
