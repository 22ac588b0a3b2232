"""The contract of stores that give parts of a run without reading all of it: see `Parted`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from skillgauge.api import (
    EventKind,
    Execution,
    Parted,
    ResultOrder,
    RunQuery,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
)
from skillgauge.api.report import GroupKey, abridged, case_order, with_trajectory

from .. import samples
from ..clauses import answered, require, shown
from ..shapes import require_shape
from .places import Place

T = TypeVar("T")
_CASES, _REPEATS, _ARMS = 3, 2, ("with", "without")
_EVENTS = (0, 1, 400)
"""Of the sessions of a case, one after another: none, a short one, and one that is long enough to be stored apart."""


async def gives_parts(place: Place) -> None:
    """Parts are equal to what is picked out of the whole; a store whose runs are not `Parted` need not give them."""
    async with place.store() as store:
        log = await place.begin(store, samples.head())
        committed = _results()
        await place.commit(log, [with_trajectory(one, _trajectory(500)) for one in committed])
        await place.commit(log, committed)  # in place of the others
        (view,) = await place.scan(store, RunQuery(limit=1))
        source = view.source
        if not isinstance(source, Parted):
            return
        require_shape(source, Parted)
        groups = (None, *dict.fromkeys(result.group for result in committed))
        for order in ResultOrder:
            for group in groups:
                await _require_abridged(place, source, committed, order, group)
        for index in range(_CASES + 1):
            due = [one for one in sorted(committed, key=case_order) if one.case_index == index]
            suite_id = committed[0].suite_id
            call = f"Parted.of_case({suite_id!r}, {index})"
            _require_equal(call, await _of(place, call, _list_of(source.of_case, suite_id, index)), due)
        call = "Parted.of_case of a suite that the run does not have"
        _require_equal(call, await _of(place, call, _list_of(source.of_case, "no such suite", 0)), [])
        for ordinal in (-1, *range(len(committed) + 1), 2**63):
            call = f"Parted.of_trial({ordinal})"
            expected = committed[ordinal] if 0 <= ordinal < len(committed) else None
            _require_equal(call, await _of(place, call, partial(source.of_trial, ordinal)), expected)


async def _require_abridged(
    place: Place, source: Parted, committed: Sequence[TrialResult], order: ResultOrder, group: GroupKey | None
) -> None:
    results = [abridged(one) for one in committed if group in (None, one.group)]
    due = sorted(results, key=case_order) if order is ResultOrder.CASE else results
    call = f"Parted.abridged({order.value!r}, {'no group' if group is None else group.arm!r})"
    _require_equal(call, await _of(place, call, _list_of(source.abridged, order, group)), due)


async def _of(place: Place, call: str, read: Callable[[], T]) -> T:
    return await answered(call, place.patience_s, asyncio.to_thread, read)


def _list_of(call: Callable[..., Iterator[TrialResult]], *words: object) -> Callable[[], list[TrialResult]]:
    return lambda: list(call(*words))


def _require_equal(call: str, got: object, due: object) -> None:
    require(got == due, f"{call} must give {shown(due)}, not {shown(got)}")


def _results() -> list[TrialResult]:
    """Results of both arms in the order of a plan: repeats outermost."""
    return [
        samples.result(
            repeat * _CASES * len(_ARMS) + index * len(_ARMS) + place,
            case_index=index,
            case_id=f"case-{index}",
            repeat=repeat + 1,
            arm=arm,
            execution=Execution(text="done", trajectory=_trajectory(_EVENTS[index])),
        )
        for repeat in range(_REPEATS)
        for index in range(_CASES)
        for place, arm in enumerate(_ARMS)
    ]


def _trajectory(count: int) -> Trajectory:
    events = tuple(
        TrajectoryEvent(kind=EventKind.TOOL_CALL, name="Bash", text=f"step {number} " * 10, data={"number": number})
        for number in range(count)
    )
    return Trajectory(events=events, turns=2, raw="raw\n" * count or None)
