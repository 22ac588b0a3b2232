"""A process that works on a store and obeys lines of its standard input; see `conftest.Child`.

begin PLAN              begin or resume a run; says `begun RUN_ID RESUMED`
work FIRST LAST SIZE    claim and commit in batches; says `done N` after each, N trials of it being acknowledged
exit                    end without closing the store
"""

from __future__ import annotations

import asyncio
import sys

import builders

from skillgauge_store_sqlite.log import SqliteRunLog
from skillgauge_store_sqlite.options import SqliteOptions
from skillgauge_store_sqlite.store import SqliteStore


def say(*words: object) -> None:
    """Tell the parent."""
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


async def work(log: SqliteRunLog, first: int, last: int, size: int) -> None:
    """Claim and commit the trials from `first` to before `last`."""
    for start in range(first, last, size):
        ordinals = range(start, min(start + size, last))
        claimed = await log.claim([builders.trial(ordinal) for ordinal in ordinals])
        results = [builders.result(n) for n in ordinals if builders.trial_id(n) not in claimed.done]
        await log.commit(results, paid=False)
        say("done", ordinals.stop)


async def main() -> None:
    """Obey until the input ends."""
    store = SqliteStore(SqliteOptions(location=sys.argv[1]))
    log = None
    while words := (await asyncio.to_thread(sys.stdin.readline)).split():
        if words[0] == "begin":
            log = await store.begin(builders.head(words[1]), fresh=False)
            say("begun", log.info.run_id, log.info.resumed)
        elif words[0] == "work":
            assert log is not None
            await work(log, *(int(word) for word in words[1:]))
        else:
            return


asyncio.run(main())
