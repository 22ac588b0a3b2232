"""A process that works on a store and obeys lines of its standard input; see `conftest.Child`.

begin PLAN              begin or resume a run; says `begun RUN_ID RESUMED`
work FIRST LAST SIZE    claim and commit in batches; says `done N` after each, N trials of it being acknowledged
exit                    end without closing the store
"""

from __future__ import annotations

import asyncio
import sys

from skillgauge_store_postgres.log import PostgresRunLog
from skillgauge_store_postgres.options import PostgresOptions
from skillgauge_store_postgres.store import PostgresStore
from skillgauge_testkit.contract import samples


def say(*words: object) -> None:
    """Tell the parent."""
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


async def work(log: PostgresRunLog, first: int, last: int, size: int) -> None:
    """Claim and commit the trials from `first` to before `last`."""
    for start in range(first, last, size):
        trials = [samples.trial(ordinal) for ordinal in range(start, min(start + size, last))]
        claimed = await log.claim(trials)
        results = [samples.result(one.ordinal) for one in trials if one.trial_id not in claimed.done]
        await log.commit(results, paid=False)
        say("done", trials[-1].ordinal + 1)


async def main() -> None:
    """Obey until the input ends."""
    store = PostgresStore(PostgresOptions(location=sys.argv[1]))
    log = None
    while words := (await asyncio.to_thread(sys.stdin.readline)).split():
        if words[0] == "begin":
            log = await store.begin(samples.head(words[1]), fresh=False)
            say("begun", log.info.run_id, log.info.resumed)
        elif words[0] == "work":
            assert log is not None
            await work(log, *(int(word) for word in words[1:]))
        else:
            return


asyncio.run(main())
