"""The contract of logs that also keep what was executed and is not graded yet: see `KeepingLog`."""

from __future__ import annotations

from skillgauge.api import KeepingLog, KeptExecution, RunLog
from skillgauge.api.report import RunState

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .places import Place


async def keeps_executions(place: Place) -> None:
    """A kept execution comes back to the letter, is replaced, goes with the result, and belongs to its run."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        if not isinstance(log, KeepingLog):
            return
        require_shape(log, KeepingLog)
        await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(n) for n in range(3)])
        await _require(place, log, 0, None, "before anything was kept")
        for kept in (samples.kept(0, "first"), samples.kept(1, "other"), samples.kept(0, "é", signature="of the key")):
            await answered("KeepingLog.keep", place.patience_s, log.keep, kept)
        await _require(place, log, 0, samples.kept(0, "é", signature="of the key"), "that was kept last")
        await _require(place, log, 1, samples.kept(1, "other"), "of its trial")
        other = await place.begin(store, samples.head("another plan"))
        await _require(place, other, 0, None, "of another run")
        await answered("RunLog.commit", place.patience_s, lambda: log.commit([samples.result(0)], paid=True))
        await _require(place, log, 0, None, "after the result of its trial was committed")
        await _require(place, log, 1, samples.kept(1, "other"), "after the result of another trial was committed")


async def keeps_them_for_the_next(place: Place, *, fresh: bool) -> None:
    """An unfinished run has what it kept when it is resumed; one that is passed over for a fresh run has it no more."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        if not isinstance(log, KeepingLog):
            return
        await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(2)])
        await answered("KeepingLog.keep", place.patience_s, log.keep, samples.kept(2, "kept"))
        await answered("RunLog.finish", place.patience_s, log.finish, RunState.INTERRUPTED, None)
    async with place.store() as store:
        again = await place.begin(store, samples.head(), fresh=fresh)
        await _require(place, again, 2, None if fresh else samples.kept(2, "kept"), "of a run that was interrupted")


async def require_survived(place: Place, log: RunLog) -> None:
    """Require the execution that was kept before the process was killed, or the store closed."""
    if isinstance(log, KeepingLog):
        await _require(place, log, 2, samples.kept(2, "kept"), "of a run that was not finished")


async def _require(place: Place, log: RunLog, ordinal: int, expected: KeptExecution | None, which: str) -> None:
    assert isinstance(log, KeepingLog)
    got = await answered("KeepingLog.kept", place.patience_s, log.kept, samples.trial(ordinal))
    same = (got and got.model_dump_json()) == (expected and expected.model_dump_json())
    require(same, f"KeepingLog.kept must give {shown(expected)}, the execution {which}, but gave {shown(got)}")
