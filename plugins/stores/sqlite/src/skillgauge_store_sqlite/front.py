"""The store as the kernel gets it: all that SQLite takes is imported once there is something to read or to store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge.api import (
    BudgetShare,
    BudgetStanding,
    PlanHead,
    RunNotes,
    RunQuery,
    ServiceShare,
    ServiceStanding,
    SharedBudget,
    SharedService,
    TrialNotes,
)

from .options import SqliteOptions

if TYPE_CHECKING:
    from skillgauge.api.report import RunView

    from .log import SqliteRunLog
    from .store import SqliteStore


class StoreInFile:
    """Runs in one SQLite file; many commands find none and store none.

    Args:
        options: where the file is; a relative path is taken from the folder that is current now.
    """

    durable = True

    def __init__(self, options: SqliteOptions) -> None:
        self._options = options
        self._path = Path(options.location.removeprefix("file://")).expanduser().absolute()

    async def begin(self, head: PlanHead, *, fresh: bool) -> SqliteRunLog:
        """See `Store.begin`."""
        return await self._store.begin(head, fresh=fresh)

    def scan(self, query: RunQuery) -> Iterator[RunView]:
        """See `Store.scan`. A file that is not there holds no runs and is not made."""
        if not self._is_in_use and self._is_absent():
            return iter(())
        return self._store.scan(query)

    async def keep(self, view: RunView) -> bool:
        """See `Archive.keep`."""
        return await self._store.keep(view)

    def notes(self) -> Mapping[str, RunNotes]:
        """See `NotedStore.notes`."""
        if not self._is_in_use and self._is_absent():
            return {}
        return self._store.notes()

    async def annotate(self, run_id: str, notes: RunNotes) -> bool:
        """See `NotedStore.annotate`. A file that is not there has no such run and is not made."""
        if not self._is_in_use and self._is_absent():
            return False
        return await self._store.annotate(run_id, notes)

    def trial_notes(self, run_id: str) -> Mapping[int, TrialNotes]:
        """See `TrialNotedStore.trial_notes`."""
        if not self._is_in_use and self._is_absent():
            return {}
        return self._store.trial_notes(run_id)

    async def annotate_trial(self, run_id: str, ordinal: int, notes: TrialNotes) -> bool:
        """See `TrialNotedStore.annotate_trial`. A file that is not there has no such trial and is not made."""
        if not self._is_in_use and self._is_absent():
            return False
        return await self._store.annotate_trial(run_id, ordinal, notes)

    async def hold(self, budget: SharedBudget, run_id: str, share: BudgetShare, *, must_fit: bool) -> BudgetStanding:
        """See `BudgetingStore.hold`."""
        return await self._store.hold(budget, run_id, share, must_fit=must_fit)

    async def occupy(
        self, service: SharedService, run_id: str, share: ServiceShare, *, must_fit: bool
    ) -> ServiceStanding:
        """See `LimitingStore.occupy`."""
        return await self._store.occupy(service, run_id, share, must_fit=must_fit)

    async def close(self) -> None:
        """See `Store.close`."""
        if self._is_in_use:
            await self._store.close()

    @property
    def _is_in_use(self) -> bool:
        return "_store" in vars(self)

    def _is_absent(self) -> bool:
        try:
            return not self._path.exists()
        except OSError:
            return False  # the store says what is wrong with the place

    @cached_property
    def _store(self) -> SqliteStore:
        from .store import SqliteStore  # noqa: PLC0415 - see the module

        return SqliteStore(self._options.model_copy(update={"location": str(self._path)}))
