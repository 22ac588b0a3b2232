"""The words of people about a run: its name, a note and labels, which a store keeps beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ...contract.stores import NotedStore, RunNotes, Store
from ...errors import Problem, UsageError

if TYPE_CHECKING:
    from ...types.results.runs import RunInfo


def parsed_labels(words: Sequence[str], *, may_remove: bool = False) -> dict[str, str]:
    """Labels as they are typed, `KEY=VALUE`.

    Args:
        words: of the command line.
        may_remove: whether a value may be empty, which takes a label away.

    Raises:
        UsageError: a word is no label.
    """
    labels: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and (value or may_remove)):
            hint = "Write KEY=VALUE, as in team=search."
            raise UsageError(Problem("usage.label", f"{word!r} is no label", hint=hint))
        labels[key] = value
    return labels


class Noting:
    """Keeps the name, the note and the labels of a run when it begins: `eval --name`, `--note`, `--label`.

    Args:
        store: of the run; `None` if it is kept nowhere.
        name: `None` leaves that of a run that is resumed.
        note: the same.
        labels: are added.

    Raises:
        UsageError: the store keeps no names, or one of them is not as it has to be.
    """

    def __init__(self, store: Store | None, name: str | None, note: str | None, labels: Mapping[str, str]) -> None:
        if not isinstance(store, NotedStore):
            message = "--name, --note and --label need a store that keeps them, and that of this run does not"
            hint = "Keep the run in an SQLite file or a PostgreSQL database: name it with --store."
            raise UsageError(Problem("usage.notes", message, hint=hint))
        self._store: NotedStore = store
        self._said: tuple[str | None, str | None, Mapping[str, str]] = (name, note, labels)
        noted(RunNotes(), *self._said)
        self._keeping: asyncio.Task[bool] | None = None

    def begin(self, run: RunInfo) -> None:
        """Keep them for a run that begins, while it goes on; call it in the thread of the event loop."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep(run.run_id))

    async def _keep(self, run_id: str) -> bool:
        before = (await asyncio.to_thread(self._store.notes)).get(run_id, RunNotes())
        return await self._store.annotate(run_id, before.changed(*self._said))

    async def ready(self) -> None:
        """Wait until they are kept.

        Raises:
            StoreError: they cannot be.
        """
        if self._keeping is not None:
            await self._keeping


def noted(before: RunNotes, name: str | None, note: str | None, labels: Mapping[str, str]) -> RunNotes:
    """Return the words about a run after a change, see `RunNotes.changed`.

    Raises:
        UsageError: a name, note or label is not as it has to be.
    """
    try:
        return before.changed(name, note, labels)
    except ValidationError as error:
        faults = "; ".join(f"{one['loc'][0]}: {one['msg']}" for one in error.errors())
        hint = "Keys have at most 60 letters, digits and `._/-`; values and names 200 characters, a note 10,000."
        raise UsageError(Problem("usage.notes", f"that cannot be kept: {faults}", hint=hint)) from None
