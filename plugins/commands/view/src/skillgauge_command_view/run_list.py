"""The list of runs: which of them fit a filter, and in which order they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime

from skillgauge.api import plain

from .rows import RunRow

PAGE = 100
"""Runs on a page."""
_ORDERS: Mapping[str, Callable[[RunRow], float]] = {
    "new": lambda row: row.started_at,
    "old": lambda row: -row.started_at,
    "lift": lambda row: max((lift.estimate for lift in row.lifts), default=-2.0),
    "cost": lambda row: row.cost_usd or 0.0,
    "errors": lambda row: float(row.errors),
}
"""The orders of runs, the largest value first."""


@dataclass(frozen=True)
class Choices:
    """The values that a filter can have, each as a line that is safe to show and to send back."""

    skills: tuple[str, ...]
    suites: tuple[str, ...]
    engines: tuple[str, ...]
    models: tuple[str, ...]
    verdicts: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """The runs of one page."""

    rows: tuple[RunRow, ...]
    fitting: int
    total: int
    page: int
    pages: int


@dataclass(frozen=True)
class RunFilter:
    """The runs to list; an empty field fits all."""

    q: str = ""
    skill: str = ""
    suite: str = ""
    engine: str = ""
    model: str = ""
    verdict: str = ""
    label: str = ""
    since: str = ""
    until: str = ""
    sort: str = ""
    page: str = ""

    @classmethod
    def of(cls, words: Mapping[str, str]) -> RunFilter:
        """The filter of a query; other words are passed over."""
        return cls(**{field.name: words[field.name] for field in fields(cls) if field.name in words})

    @property
    def query(self) -> dict[str, str]:
        """The filter as the words of a query."""
        return {field.name: str(getattr(self, field.name)) for field in fields(self)}

    @property
    def is_empty(self) -> bool:
        """True if it fits all."""
        return replace(self, sort="", page="") == RunFilter()

    def turned(self, page: int) -> dict[str, str]:
        """The words of the same filter on another page."""
        return replace(self, page=str(page)).query

    def sorted_by(self, order: str) -> dict[str, str]:
        """The words of the same filter in another order."""
        return replace(self, sort=order, page="").query

    def part(self, rows: Sequence[RunRow]) -> Part:
        """The runs of the page that the filter names."""
        fitting = sorted(
            (row for row in rows if self._fits(row)), key=_ORDERS.get(self.sort, _ORDERS["new"]), reverse=True
        )
        pages = max(1, -(-len(fitting) // PAGE))
        page = int(self.page) if self.page.isascii() and self.page.isdigit() and len(self.page) < 8 else 1
        page = min(max(1, page), pages)
        shown = tuple(fitting[(page - 1) * PAGE : page * PAGE])
        return Part(shown, len(fitting), len(rows), page, pages)

    def _fits(self, row: RunRow) -> bool:
        values = (
            (self.skill, row.targets),
            (self.suite, row.suites),
            (self.engine, row.engines),
            (self.model, row.models),
            (self.verdict, (row.verdict_text,)),
            (self.label, row.labels),
        )
        if not all(plain(value) in map(plain, held) for value, held in values if value):
            return False
        began = datetime.fromtimestamp(row.started_at, UTC).date()
        since, until = _date(self.since), _date(self.until)
        if (since and began < since) or (until and began > until):
            return False
        return all(word in row.words for word in self.q.casefold().split())


def choices(rows: Iterable[RunRow]) -> Choices:
    """Return the values that the runs have."""
    rows = list(rows)
    return Choices(
        skills=_each(row.targets for row in rows),
        suites=_each(row.suites for row in rows),
        engines=_each(row.engines for row in rows),
        models=_each(row.models for row in rows),
        verdicts=_each((row.verdict_text,) for row in rows),
        labels=_each(row.labels for row in rows),
    )


def _each(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted({plain(text) for texts in lists for text in texts}))


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
