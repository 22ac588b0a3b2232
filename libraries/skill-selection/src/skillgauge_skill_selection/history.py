"""The completion rates that are known without running a skill: its file's own, and those of kept runs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import Field

from skillgauge.api import Frozen, RunQuery, Store
from skillgauge.api.report import RunState, RunView
from skillgauge.api.run import Invocation, why_summary_foreign

from .catalogue import Candidate
from .evidence import completion_rate, is_baseline


class RateSource(StrEnum):
    """The source of a rate."""

    OWN = "own run"
    """The newest finished run of the skill in the store."""
    PUBLISHED = "published"
    """`metadata.benchmarkResults` in the skill's file."""


class KnownRate(Frozen):
    """A completion rate and where it comes from."""

    rate: float = Field(ge=0, le=1)
    source: RateSource
    benchmark: str | None = None
    measured_at: str | None = None
    """As published, or ISO 8601."""
    cases: int | None = None
    """Cases behind it; unknown for a published one."""


def best_known(candidate: Candidate, own: KnownRate | None) -> KnownRate | None:
    """The highest rate that is known of a skill; of equal ones the one that was measured here."""
    rates = [*_published(candidate)]
    if own is not None:
        rates.insert(0, own)
    return max(rates, key=lambda known: known.rate, default=None)


def own_rates(call: Invocation, ids: Collection[str]) -> Mapping[str, KnownRate]:
    """For each skill that has one, the rate of its newest finished run in the store that this user wrote.

    Nothing is made where no store is. Where the user chose no store and none is installed, nothing is known.

    Args:
        call: the command line, whose configuration names the store.
        ids: the skills.

    Raises:
        SkillgaugeError: the store that the configuration names cannot be read.
    """
    if not call.has_store:
        return {}
    return asyncio.run(_read(call.open_store(), frozenset(ids)))


async def _read(store: Store, ids: frozenset[str]) -> dict[str, KnownRate]:
    try:
        return await asyncio.to_thread(_newest_rates, store, ids)
    finally:
        await store.close()


def _newest_rates(store: Store, ids: frozenset[str]) -> dict[str, KnownRate]:
    rates: dict[str, KnownRate] = {}
    if not ids:
        return rates
    for view in store.scan(RunQuery()):  # once for all skills, newest first
        if view.run.state is RunState.FINISHED and not why_summary_foreign(view):
            for name, rate in _rates_of(view):
                if name in ids:
                    rates.setdefault(name, rate)
        if len(rates) == len(ids):
            break
    return rates


def _rates_of(view: RunView) -> Iterator[tuple[str, KnownRate]]:
    """The rates of a run, best first, so that the first of a skill is its best."""
    suites = {suite.id: suite for suite in view.head.suites}
    invalid = {one.suite_id for one in view.summary.validity if not one.valid}
    moment = datetime.fromtimestamp(view.run.finished_at or view.run.started_at, UTC)
    rates = []
    for group in view.summary.groups:
        rate = completion_rate(group)
        if group.target_id is not None and rate is not None and group.suite_id not in invalid:
            if is_baseline(group, suites):
                continue
            known = KnownRate(
                rate=rate,
                source=RateSource.OWN,
                benchmark=group.suite_id,
                measured_at=moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
                cases=group.pass_rate.n,
            )
            rates.append((group.target_id, known))
    return iter(sorted(rates, key=lambda one: -one[1].rate))


def _published(candidate: Candidate) -> Iterator[KnownRate]:
    """The rates in a skill's file. The file may say anything there, so what is no rate is passed over."""
    metadata = candidate.document.get("metadata")
    results = metadata.get("benchmarkResults") if isinstance(metadata, Mapping) else None
    for result in results if isinstance(results, tuple) else ():
        if not isinstance(result, Mapping):
            continue
        rate = result.get("completionRate")
        if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 <= rate <= 1:
            yield KnownRate(
                rate=rate,
                source=RateSource.PUBLISHED,
                benchmark=_text(result.get("benchmarkId")),
                measured_at=_text(result.get("timestamp")),
            )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
