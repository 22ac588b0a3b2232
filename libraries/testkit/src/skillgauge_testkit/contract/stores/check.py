"""The contract of stores: what was committed stays, whatever happens to the process."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Callable, Sequence

from skillgauge.api import (
    Archive,
    Execution,
    Json,
    KeepingLog,
    Kept,
    PlanHead,
    ResultOrder,
    RunLog,
    RunQuery,
    Store,
    TrialResult,
    Unfinished,
    Verdict,
)
from skillgauge.api.report import GroupKey, RunInfo, RunState, RunView, case_order

from .. import samples
from ..clauses import PATIENCE_S, answered, called, require, run, shown
from ..shapes import require_shape
from .budgeting import OF_BUDGETS
from .crashes import MakeStore, run_child
from .keeping import keeps_executions, keeps_them_for_the_next, require_survived
from .limiting import OF_SERVICES
from .noting import keeps_notes, keeps_trial_notes
from .parting import gives_parts
from .places import Place
from .progress import tells_how_far
from .signatures import keeps_signatures, keeps_signers_apart


def check_store(make: MakeStore, make_location: Callable[[], str], *, patience_s: float = PATIENCE_S) -> None:
    """Check a store: nothing committed is lost, runs are resumed and do not meet, and all of it can be read.

    Example::

        def test_store(tmp_path):
            names = (str(tmp_path / f"{n}.db") for n in count())
            check_store(Maker(STORES, "acme_db.plugin"), lambda: next(names))

    Args:
        make: makes a store from its options; the kit gives the option `location`. For a durable store it must be
            possible to pickle it, because a process is killed in the middle of a run; a `Maker` can be.
        make_location: a new place for a store, empty, each time it is called.
        patience_s: how long to wait for an answer.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    store = called("making a store", make, {"location": make_location()})
    require_shape(store, Store)
    run(_closes(store, patience_s))
    for clause in (
        _keeps,
        _keeps_cases,
        _orders,
        _counts_claims,
        _counts_spending,
        _replaces,
        _finishes,
        _starts_fresh,
        _keeps_apart,
        _scans,
    ):
        run(clause(Place(make, make_location(), patience_s)))
    run(keeps_signatures(Place(make, make_location(), patience_s)))
    run(keeps_executions(Place(make, make_location(), patience_s)))
    if isinstance(store, Archive):
        require_shape(store, Archive)
        run(_takes_in(Place(make, make_location(), patience_s)))
    for clause in (keeps_notes, keeps_trial_notes, gives_parts, *OF_BUDGETS, *OF_SERVICES):
        run(clause(Place(make, make_location(), patience_s)))
    run(tells_how_far(Place(make, make_location(), patience_s)))
    if store.durable:
        run(_resumes(Place(make, make_location(), patience_s)))
        run(_survives(Place(make, make_location(), patience_s)))
        run(keeps_signers_apart(Place(make, make_location(), patience_s)))
        for fresh in (False, True):
            run(keeps_them_for_the_next(Place(make, make_location(), patience_s), fresh=fresh))


async def _closes(store: Store, patience_s: float) -> None:
    await answered("Store.close of an unused store", patience_s, store.close)


async def _keeps(place: Place) -> None:
    """Results come back as they were, odd ones too."""
    results = [
        samples.result(0, case_id=f"x{text}")
        if n == 0
        else samples.result(n, case_id=text or "empty", execution=Execution(output=value, stderr=text))
        for n, (value, text) in enumerate(_odd())
    ]
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        require(not log.info.resumed, "Store.begin at an empty place must begin a new run, not resume one")
        await place.commit(log, [])
        await place.commit(log, results[:3], paid=True)
        await place.commit(log, results[3:])
        _require_results("what was committed", await place.read(log), results)


def _odd() -> list[tuple[Json, str]]:
    texts = [text for _, text in samples.ODD_TEXTS]
    return [(value, texts[n % len(texts)]) for n, (_, value) in enumerate(samples.odd_values())]


def _require_results(subject: str, got: Sequence[TrialResult], expected: Sequence[TrialResult]) -> None:
    ordinals = [actual_one.ordinal for actual_one in got]
    message = f"ordinals {shown(ordinals)} instead of {shown([actual_one.ordinal for actual_one in expected])}"
    require(
        ordinals == [actual_one.ordinal for actual_one in expected], f"RunLog.results must give {subject}: {message}"
    )
    for actual_one, expected_one in zip(got, expected, strict=True):
        if actual_one != expected_one:  # shown only then: they hold megabytes
            changed = f"{shown(actual_one)} instead of {shown(expected_one)}"
            raise AssertionError(f"RunLog.results must give {subject}, unchanged: {changed}")


async def _orders(place: Place) -> None:
    """Plan order is by ordinal; case order keeps the repeats of a case together."""
    keys = [
        (suite, target, arm, case, repeat)
        for repeat in (1, 2)
        for case in (0, 1, 10)
        for arm in ("with", "without")
        for target in (None, "skill")
        for suite in ("demo", "other")
    ]
    names = ("suite_id", "target_id", "arm", "case_index", "repeat")
    results = [samples.result(n, **dict(zip(names, key, strict=True))) for n, key in enumerate(keys)]
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        await place.commit(log, results[10:])
        await place.commit(log, results[:10][::-1])
        _require_results("results in plan order, by ordinal", await place.read(log), results)
        for group in {one.group for one in results}:
            call, expected = "RunLog.results of a group", [one for one in results if one.group == group]
            inside = await answered(call, place.patience_s, asyncio.to_thread, _of(log, group))
            _require_results("those of one group, in plan order", inside, expected)
        by_case = await place.read(log, ResultOrder.CASE)
        require(len(by_case) == len(results), "RunLog.results in case order must give every result once")
        places = [case_order(one) for one in by_case]
        clause = "RunLog.results in case order must be by suite, case, target, runner, model, arm, then repeat"
        require(places == sorted(places), f"{clause}, but was {shown(places)}")


def _of(log: RunLog, group: GroupKey) -> Callable[[], list[TrialResult]]:
    return lambda: list(log.results(ResultOrder.PLAN, group))


async def _keeps_cases(place: Place) -> None:
    """Check that the facts of a case are kept once, however often they are given."""
    heads = [samples.case(n, input=value, prompt=text) for n, (value, text) in enumerate(_odd())]
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        for known_heads in (heads[2:], heads[:3][::-1], heads[:1]):
            await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(0)], known_heads)
        await place.commit(log, [samples.result(0)])
        await place.finish(log)
        for source in (log, *await place.scan(store, RunQuery())):
            call = f"{type(source).__name__}.cases"
            for _ in range(2):
                kept = await answered(call, place.patience_s, asyncio.to_thread, lambda one=source: list(one.cases()))
                if kept != heads:
                    raise AssertionError(f"{call} must give each case once, as it was claimed, but gave {shown(kept)}")


async def _counts_claims(place: Place) -> None:
    """A claim counts attempts, and names what is done."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        trials = [samples.trial(n) for n in range(3)]
        first = await answered("RunLog.claim", place.patience_s, log.claim, trials)
        once = dict.fromkeys((one.trial_id for one in trials), 1)
        right = not first.done and dict(first.attempts) == once
        require(right, f"RunLog.claim of new trials must count one attempt each and none done, but gave {shown(first)}")
        await answered("RunLog.commit", place.patience_s, lambda: log.commit([samples.result(1)], paid=False))
        second = await answered("RunLog.claim", place.patience_s, log.claim, trials)
        done, attempts = {trials[1].trial_id}, {trials[0].trial_id: 2, trials[2].trial_id: 2}
        require(second.done == done, f"RunLog.claim must name the committed trial as done, but gave {shown(second)}")
        counted = dict(second.attempts) == attempts
        require(counted, f"RunLog.claim must count every claim of a trial that is not done, but gave {shown(second)}")


async def _counts_spending(place: Place) -> None:
    """Check that usage without a result is kept by claim, handed out by later claims, and gone with a result."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        trials = [samples.trial(n) for n in range(2)]
        await answered("RunLog.claim", place.patience_s, log.claim, trials)
        for used in (1, 5):  # the second replaces the first
            spent = [samples.unfinished(n, 1, used + n) for n in (1, 0)]
            await answered("RunLog.spend", place.patience_s, log.spend, spent)
        await _require_unfinished(place, log, [samples.unfinished(0, 1, 5), samples.unfinished(1, 1, 6)])
        claimed = await answered("RunLog.claim", place.patience_s, log.claim, trials)
        expected = {one.trial_id: samples.unfinished(one.ordinal, 1, 5 + one.ordinal).attempts for one in trials}
        right = dict(claimed.cut_off) == expected
        require(right, f"RunLog.claim must give what earlier claims have used, not {shown(claimed)}")
        await answered("RunLog.spend", place.patience_s, log.spend, [samples.unfinished(1, 2, 9)])
        await answered("RunLog.commit", place.patience_s, lambda: log.commit([samples.result(0)], paid=True))
        await _require_unfinished(place, log, [samples.unfinished(1, 1, 6), samples.unfinished(1, 2, 9)])
        first, second = (samples.unfinished(1, claim, used).attempts for claim, used in ((1, 6), (2, 9)))
        claimed = await answered("RunLog.claim", place.patience_s, log.claim, trials)
        right = dict(claimed.cut_off) == {trials[1].trial_id: (*first, *second)}
        require(right, f"RunLog.claim must give these attempts in the order of their claims, not {shown(claimed)}")


async def _require_unfinished(place: Place, log: RunLog, expected: Sequence[Unfinished]) -> None:
    got = await answered("RunLog.unfinished", place.patience_s, asyncio.to_thread, lambda: list(log.unfinished()))
    clause = "RunLog.unfinished must give what was spent on trials without a result, by ordinal and claim"
    require(got == list(expected), f"{clause}, but gave {shown(got)}")


async def _replaces(place: Place) -> None:
    """Committing again replaces."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        await place.commit(log, [samples.result(0), samples.result(1)])
        changed = samples.result(1, verdict=Verdict.FAIL, value=0.0, scores=())
        await answered("RunLog.commit of a trial again", place.patience_s, lambda: log.commit([changed], paid=False))
        results = await place.read(log)
        _require_results("one result per trial, the one committed last", results, [samples.result(0), changed])


async def _finishes(place: Place) -> None:
    """After a finished run the same plan is a new run."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        started = log.info
        await place.commit(log, [samples.result(0)])
        info = await place.finish(log)
        ended = info.state is RunState.FINISHED and info.finished_at is not None and info.run_id == started.run_id
        require(ended, f"RunLog.finish must return the run as finished, with its end, not {shown(info)}")
        again = await place.begin(store, samples.head())
        is_new = again.info.run_id != started.run_id and not again.info.resumed
        require(is_new, "Store.begin after the plan's run has finished must begin a new run with its own id")
        require(not await place.read(again), "a new run must not hold results of an earlier one")


async def _starts_fresh(place: Place) -> None:
    """`fresh` never resumes."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        await place.commit(log, [samples.result(0)])
        await place.finish(log, RunState.INTERRUPTED, None)
        fresh = await place.begin(store, samples.head(), fresh=True)
        is_new = fresh.info.run_id != log.info.run_id and not fresh.info.resumed
        require(is_new, "Store.begin with fresh must begin a new run although an unfinished one of the plan is there")
        require(not await place.read(fresh), "a fresh run must not hold results of an earlier one")


async def _keeps_apart(place: Place) -> None:
    """Two runs at once, of one plan and of another, do not see each other's results."""
    async with place.store() as one_store, place.store() as other_store:
        heads = (samples.head(), samples.head(), samples.head("another plan"))
        stores = (one_store, other_store, other_store)
        logs = [await place.begin(store, head) for store, head in zip(stores, heads, strict=True)]
        ids = {log.info.run_id for log in logs}
        require(len(ids) == len(logs), "Store.begin must not hand out a run that somebody else is working on")
        expected = [[samples.result(n, case_id=f"run {which}") for n in range(20)] for which in range(len(logs))]
        for n in range(0, 20, 4):
            parts = zip(logs, expected, strict=True)
            await asyncio.gather(*(place.commit(log, results[n : n + 4]) for log, results in parts))
        for log, results in zip(logs, expected, strict=True):
            _require_results("the results of its own run only", await place.read(log), results)


async def _scans(place: Place) -> None:
    """Stored runs are found, newest first, with head, summary and results."""
    async with place.store() as store:
        require(not await place.scan(store, RunQuery()), "Store.scan of an empty place must give no runs")
        heads = [samples.head(f"plan {n}", suite_id=f"suite {n % 2}", targets=(f"skill {n}",)) for n in range(3)]
        ids = []
        for n, head in enumerate(heads):
            log = await place.begin(store, head)
            ids.append(log.info.run_id)
            await place.commit(log, [samples.result(0), samples.result(1)])
            await place.finish(log, total=n + 1)
        if not store.durable:
            await _require_scanned(place, store, ids, heads)
    if store.durable:
        async with place.store() as reopened:
            await _require_scanned(place, reopened, ids, heads)


async def _require_scanned(place: Place, store: Store, ids: Sequence[str], heads: Sequence[PlanHead]) -> None:
    views = await place.scan(store, RunQuery())
    run_ids = [view.run.run_id for view in views]
    newest_first = list(reversed(ids))
    require(
        run_ids == newest_first, f"Store.scan must give every run, newest first: {newest_first}, but gave {run_ids}"
    )
    newest = views[0]
    require(newest.head == heads[2], "Store.scan must give the plan's head as it was begun")
    require(newest.summary == samples.summary(3), "Store.scan must give the summary as it was finished")
    expected = [samples.result(0), samples.result(1)]
    for _ in range(2):
        results = await answered("RunView.results", place.patience_s, asyncio.to_thread, lambda: list(newest.results()))
        _require_results("the results of a scanned run, as often as asked", results, expected)
    queries = {
        RunQuery(run_ids=(ids[1], "absent")): [ids[1]],
        RunQuery(suite_id="suite 0"): [ids[2], ids[0]],
        RunQuery(target_id="skill 1"): [ids[1]],
        RunQuery(suite_id="suite 0", target_id="skill 1"): [],
        RunQuery(limit=2): [ids[2], ids[1]],
        RunQuery(without=frozenset((ids[2], "absent"))): [ids[1], ids[0]],
        RunQuery(without=frozenset((ids[2],)), limit=1): [ids[1]],
        RunQuery(run_ids=(ids[2], ids[1]), without=frozenset((ids[2],))): [ids[1]],
    }
    for query, matching in queries.items():
        run_ids = [view.run.run_id for view in await place.scan(store, query)]
        require(run_ids == matching, f"Store.scan of {query!r} must give {matching}, but gave {run_ids}")


async def _takes_in(place: Place) -> None:
    """A run from elsewhere keeps its id and times, is stored once, and is listed by when it began."""
    info = RunInfo(run_id="from elsewhere", state=RunState.FINISHED, started_at=1.0, finished_at=2.0)
    source = Kept(lambda: [samples.result(0)], [samples.case(0)])
    view = RunView(info, samples.head("an old plan"), samples.summary(1), source)
    async with place.store() as store:
        assert isinstance(store, Archive)
        newer = await place.begin(store, samples.head())
        await place.finish(newer)
        for expected in (True, False):
            kept = await answered("Archive.keep", place.patience_s, store.keep, view)
            require(kept is expected, f"Archive.keep must say {expected} here, not {shown(kept)}")
        views = await place.scan(store, RunQuery())
        ids = [one.run.run_id for one in views]
        expected_ids = [newer.info.run_id, info.run_id]
        require(
            ids == expected_ids,
            f"Store.scan must give a run that was taken in by when it began: {expected_ids}, not {ids}",
        )
        whole = list(views[1].results()), list(views[1].cases())
        require(whole == ([samples.result(0)], [samples.case(0)]), f"Archive.keep must keep the whole run, not {whole}")
        require(views[1].run == info, f"a run that was taken in must keep its id and times, not become {views[1].run}")
        again = await place.begin(store, view.head)
        require(not again.info.resumed, "Store.begin must never resume a run that was taken in")


async def _resumes(place: Place) -> None:
    """A run that was closed without being finished goes on, in a new store, with what it had."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        await place.commit(log, [samples.result(0), samples.result(1)])
        await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(2)])
        await answered("RunLog.spend", place.patience_s, log.spend, [samples.unfinished(2, 1, 7)])
        if isinstance(log, KeepingLog):
            await answered("KeepingLog.keep", place.patience_s, log.keep, samples.kept(2, "kept"))
    await _require_resumed(place, log.info.run_id, "whose store was closed")
    async with place.store() as store:
        second = await place.begin(store, samples.head())
        await place.finish(second, RunState.INTERRUPTED, None)
        log = await place.begin(store, samples.head())
        require(log.info.run_id == second.info.run_id, "Store.begin must resume a run that was interrupted")


async def _require_resumed(place: Place, run_id: str, how: str) -> None:
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        resumed = log.info.resumed and log.info.run_id == run_id
        require(resumed, f"Store.begin must resume the unfinished run {how}, and say so, but gave {shown(log.info)}")
        claimed = await answered("RunLog.claim", place.patience_s, log.claim, [samples.trial(n) for n in range(3)])
        done = {samples.trial(0).trial_id, samples.trial(1).trial_id}
        outcome = f"but claiming gave {shown(claimed)}"
        require(claimed.done == done, f"a run {how} must keep what was committed, and nothing else, {outcome}")
        counted = claimed.attempts.get(samples.trial(2).trial_id) == 2
        require(counted, f"a run {how} must keep the claims of trials without a result, {outcome}")
        spent = claimed.cut_off.get(samples.trial(2).trial_id) == samples.unfinished(2, 1, 7).attempts
        require(spent, f"a run {how} must keep what was spent on trials without a result, {outcome}")
        await require_survived(place, log)
        await place.commit(log, [samples.result(2)])
        _require_results(
            f"old and new results of a run {how}", await place.read(log), [samples.result(n) for n in range(3)]
        )


async def _survives(place: Place) -> None:
    """A process that is killed loses nothing that it had committed, and blocks nobody."""
    try:
        payload = pickle.dumps((place.make, place.location))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        text = "check_store must be able to pickle `make`, because it kills a process that uses it; use a Maker"
        raise AssertionError(f"{text} ({error})") from error
    call = "working on a run in another process"
    done = await answered(call, 10 * place.patience_s, asyncio.to_thread, run_child, payload, 6 * place.patience_s)
    lines = done.stdout.decode().strip().splitlines()
    reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    require(lines, f"{call} must be possible, but it ended with {reason}")
    await _require_resumed(place, json.loads(lines[-1]), "whose process was killed")
