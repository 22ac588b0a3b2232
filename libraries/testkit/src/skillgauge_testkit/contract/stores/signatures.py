"""The contract of stores, as far as the user's key goes: signatures come back, and runs of two keys stay apart."""

from __future__ import annotations

import asyncio

from skillgauge.api import Execution, RunQuery
from skillgauge.api.report import RunState

from .. import samples
from ..clauses import answered, require, shown
from .places import Place


async def keeps_signatures(place: Place) -> None:
    """Check that signed values come back to the letter, with their signature."""
    head = samples.head(signer="a key")
    result = samples.result(0, signature="of the result", execution=Execution(output={"b": 1, "a": (1.5, "é")}))
    case = samples.case(0, signature="of the case", input={"b": 1, "a": 2})
    summary = samples.summary(1).model_copy(update={"signature": "of the summary"})
    async with place.store() as store:
        log = await place.begin(store, head)
        await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(0)], [case])
        await answered("RunLog.commit", place.patience_s, lambda: log.commit([result], paid=False))
        await answered("RunLog.finish", place.patience_s, log.finish, RunState.FINISHED, summary)
        (view,) = await place.scan(store, RunQuery(plan_id=head.plan_id))
        stored = [view.head, view.summary, *await asyncio.to_thread(lambda: [*view.results(), *view.cases()])]
        for kept, original in zip(stored, (head, summary, result, case), strict=True):
            difference = f"{shown(kept)} instead of {shown(original)}"
            same = kept.model_dump_json() == original.model_dump_json()
            require(
                same, f"Store.scan must give signed values to the letter, signature and order of keys too: {difference}"
            )
        require(not await place.scan(store, RunQuery(plan_id="another")), "Store.scan must heed RunQuery.plan_id")


async def keeps_signers_apart(place: Place) -> None:
    """A run is resumed, and given up, only for the signer that began it."""
    mine, second = samples.head(signer="my key"), samples.head(signer="another key")
    async with place.store() as store:
        begun = await place.begin(store, mine)
        await answered("RunLog.claim", place.patience_s, begun.claim, [samples.trial(0)])
        await answered("RunLog.commit", place.patience_s, lambda: begun.commit([samples.result(0)], paid=False))
    for fresh in (False, True):
        async with place.store() as store:
            log = await place.begin(store, second, fresh=fresh)
            apart = log.info.run_id != begun.info.run_id and not log.info.resumed
            require(apart, "Store.begin must not resume the unfinished run of another signer")
            await answered("RunLog.finish", place.patience_s, log.finish, RunState.FINISHED, samples.summary(0))
    async with place.store() as store:
        log = await place.begin(store, mine)
        again = log.info.run_id == begun.info.run_id and log.info.resumed
        require(again, "Store.begin with fresh must not give up the unfinished run of another signer")
