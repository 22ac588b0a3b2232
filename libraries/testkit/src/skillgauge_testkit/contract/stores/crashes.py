"""A store in another process, which is killed or looks on, for the contract of stores."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable

from skillgauge.api import JsonObject, KeepingLog, RunQuery, Store
from skillgauge.api.report import progress_of

from .. import samples

_CHILD = """
import json, pickle, sys
paths, payload = pickle.load(sys.stdin.buffer)
sys.path[:] = paths
from skillgauge_testkit.contract.stores import crashes
getattr(crashes, sys.argv[1])(*pickle.loads(payload))
"""

MakeStore = Callable[[JsonObject], Store]
"""Makes a store from its options."""


def run_child(payload: bytes, timeout_s: float, act: str = "die_in_a_run") -> subprocess.CompletedProcess[bytes]:
    """Do this in a process of its own; `payload` is pickled: what makes the store, and its location."""
    program = [sys.executable, "-c", _CHILD, act]
    payload_bytes = pickle.dumps((sys.path, payload))
    return subprocess.run(program, input=payload_bytes, capture_output=True, check=False, timeout=timeout_s)


def die_in_a_run(make: MakeStore, location: str) -> None:
    """In a child process: commit, claim, and be killed before anything is closed."""
    asyncio.run(_die_in_a_run(make({"location": location})))


def look_on(make: MakeStore, location: str) -> None:
    """In a child process: write down how far the newest run is, which another process works on."""
    store = make({"location": location})
    (view,) = store.scan(RunQuery(limit=1))
    progress = progress_of(view.source)
    seen = {"done": progress.done, "under_way": [[one.ordinal, one.where] for one in progress.under_way]}
    sys.stdout.write(json.dumps({**seen, "state": view.run.state}) + "\n")
    sys.stdout.flush()
    asyncio.run(store.close())


async def _die_in_a_run(store: Store) -> None:
    log = await store.begin(samples.head(), fresh=False)
    await log.claim([samples.trial(n) for n in range(3)])
    await log.commit([samples.result(0)], paid=True)
    await log.commit([samples.result(1)], paid=False)
    await log.spend([samples.unfinished(2, 1, 7)])
    if isinstance(log, KeepingLog):
        await log.keep(samples.kept(2, "kept"))
    sys.stdout.write(json.dumps(log.info.run_id) + "\n")
    sys.stdout.flush()
    os._exit(9)
