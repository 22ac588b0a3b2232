"""Streams stored results and runs.

A reader reads page by page, each page a query of its own that continues behind the last row: a reader that pauses
holds no snapshot, a connection that is lost is made again between two pages, and no more than a few rows are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from skillgauge.api import CaseHead, PlanHead, ResultOrder, RunQuery, TrialResult, UnderWay, Unfinished, Verdict
from skillgauge.api.report import Counts, GroupKey, Progress, RunInfo, RunState, RunView, Summary
from skillgauge_stored_runs import LARGEST, Extra, Group, ModelT, decode, group_of, is_selected, reading

from .database import Database
from .link import Link
from .ownership import OWNED
from .rows import group_from, name_of, stored_name
from .trouble import damaged

_PAGE = 200
_RUNS = 20
"""Runs of a page: their heads may be long."""
_MERGED = 200
"""Rows that are held while the groups of a suite are merged, one of each group at least."""
_HELD_BYTES = 64 * 1024
"""A longer body is read when its turn has come, and not held with the others."""
_LEAST = -(2**62)
_BODY = f"CASE WHEN octet_length(body) <= {_HELD_BYTES} THEN body END"
_WHOLE = f"SELECT CASE WHEN octet_length(body) <= {LARGEST} THEN body END FROM"
_Row = tuple[Any, ...]
"""The stored JSON of a record, and last the place that tells it from others of its run."""


@dataclass(frozen=True)
class Stored:
    """The stored facts of one run: a `RunSource`.

    Args:
        database: where it is.
        run: its number there.
        extra: what becomes of fields that this program does not know.
        run_id: its id, for errors.
    """

    database: Database
    run: int
    extra: Extra
    run_id: str

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        key = None if group is None else group_of(group)
        rows = partial(_bodies, run=self.run, order=order, group=key)
        return self._decoded(TrialResult, "the result at place {}", rows)

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        return self._decoded(CaseHead, "case {}", partial(_cases, run=self.run))

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        return self._decoded(Unfinished, "the spending of claim {}", partial(_spending, run=self.run))

    def progress(self) -> Progress:
        """See `Followed.progress`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        counts: dict[GroupKey, dict[Verdict, int]] = {}
        with self.database.reader() as link:
            rows = _fetch(link, _COUNTS, (self.run,)) if link else []
        for *group, verdict, number in rows:
            counts.setdefault(GroupKey(*group_from(group)), {})[Verdict(verdict)] = number
        under_way = self._decoded(UnderWay, "the session at place {}", partial(_sessions, run=self.run))
        latest = self._decoded(Unfinished, "the spending at place {}", partial(_latest_spending, run=self.run))
        spent = {one.ordinal: one for one in latest}
        return Progress(counts, tuple(one.after(spent.get(one.ordinal)) for one in under_way))

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """See `Followed.results_since`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        rows = partial(_commits, run=self.run, after=after)
        return self._placed(TrialResult, "the result that was committed in place {}", rows)

    def _decoded(self, model: type[ModelT], subject: str, read: Callable[[Link], Iterator[_Row]]) -> Iterator[ModelT]:
        return (value for _, value in self._placed(model, subject, read))

    def _placed(
        self, model: type[ModelT], subject: str, read: Callable[[Link], Iterator[_Row]]
    ) -> Iterator[tuple[Any, ModelT]]:
        with self.database.reader() as link:
            if link is None:
                return
            subject = f"{self.database}: {subject} of run {self.run_id}"
            for body, *_, place in read(link):
                if body is None:
                    raise damaged(str(self.database), f"{subject.format(place)} is larger than any that is stored")
                yield place, decode(model, body, extra=self.extra, subject=subject, place=place)


def _bodies(link: Link, *, run: int, order: ResultOrder, group: Group | None) -> Iterator[_Row]:
    query = f"SELECT {_BODY}, ordinal FROM results WHERE run = %s AND ordinal > %s ORDER BY ordinal LIMIT %s"
    if order is ResultOrder.PLAN and group is None:
        rows = _pages(link, query, [run], [_LEAST])
    else:
        groups = [(key, number) for key, number in _groups(link, run) if group in (None, key)]
        if order is ResultOrder.CASE:
            rows = _in_case_order(link, groups)
        else:
            rows = _of_groups(link, groups)
    return _whole(link, rows, f"{_WHOLE} results WHERE run = %s AND ordinal = %s", run, size=1)


def _whole(link: Link, rows: Iterator[_Row], query: str, *where: int | str, size: int) -> Iterator[_Row]:
    """The same rows, with the bodies that were too long to be held; `size`: of the place that the query needs."""
    for body, *place in rows:
        if body is None:
            ((body,),) = _fetch(link, query, (*where, *place[-size:]))
        yield (body, *place)


def _of_groups(link: Link, groups: Sequence[tuple[Group, int]]) -> Iterator[_Row]:
    query = f"SELECT {_BODY}, ordinal FROM results WHERE grp = %s AND ordinal > %s ORDER BY ordinal LIMIT %s"
    for _, number in groups:
        yield from _pages(link, query, [number], [_LEAST])


def _in_case_order(link: Link, groups: Sequence[tuple[Group, int]]) -> Iterator[_Row]:
    """Each group is read by case already; those of a suite are merged, a few rows of each at a time."""
    query = (
        f"SELECT {_BODY}, case_index, repeat, ordinal FROM results "
        "WHERE grp = %s AND (case_index, repeat, ordinal) > (%s, %s, %s) "
        "ORDER BY case_index, repeat, ordinal LIMIT %s"
    )
    by_suite = sorted(groups, key=lambda one: _order_of(one[0]))
    for _, members in groupby(by_suite, key=lambda one: one[0][0]):
        numbers = [number for _, number in members]
        size = max(1, _MERGED // len(numbers))
        streams = [_pages(link, query, [number], [-1, -1, _LEAST], size=size) for number in numbers]
        yield from merge(*streams, key=itemgetter(1))


def _order_of(group: Group) -> tuple[str, ...]:
    suite_id, target_id, arm, runner, model = group
    return suite_id, target_id or "", runner, model or "", arm


def _groups(link: Link, run: int) -> list[tuple[Group, int]]:
    query = "SELECT grp, suite_id, target_id, arm, runner, model FROM groups WHERE run = %s"
    return [(group_from(stored), number) for number, *stored in _fetch(link, query, (run,))]


def _cases(link: Link, *, run: int) -> Iterator[_Row]:
    suites = sorted(name_of(text) for (text,) in _fetch(link, _SUITES, (run,)))
    query = (
        f"SELECT {_BODY}, case_index FROM cases WHERE run = %s AND suite_id = %s AND case_index > %s "
        "ORDER BY case_index LIMIT %s"
    )
    whole = f"{_WHOLE} cases WHERE run = %s AND suite_id = %s AND case_index = %s"
    for suite_id in map(stored_name, suites):
        yield from _whole(link, _pages(link, query, [run, suite_id], [-1]), whole, run, suite_id, size=1)


_SUITES = "SELECT DISTINCT suite_id FROM cases WHERE run = %s"


def _spending(link: Link, *, run: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_BODY}, ordinal, claim FROM spending s WHERE run = %s AND (ordinal, claim) > (%s, %s) "
        "AND NOT EXISTS (SELECT FROM results r WHERE r.run = s.run AND r.ordinal = s.ordinal) "
        "ORDER BY ordinal, claim LIMIT %s"
    )
    whole = f"{_WHOLE} spending WHERE run = %s AND ordinal = %s AND claim = %s"
    return _whole(link, _pages(link, query, [run], [_LEAST, 0]), whole, run, size=2)


_COUNTS = """SELECT suite_id, target_id, arm, runner, model, verdict, count(*) FROM groups JOIN results USING (grp)
WHERE groups.run = %s GROUP BY groups.grp, verdict"""


def _sessions(link: Link, *, run: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_BODY}, ordinal FROM sessions WHERE run = %s AND ordinal > %s AND NOT has_ended "
        "ORDER BY ordinal LIMIT %s"
    )
    return _pages(link, query, [run], [_LEAST])


def _latest_spending(link: Link, *, run: int) -> Iterator[_Row]:
    """The spending of sessions under way, of the claim that they are under way by; large ones are left out."""
    query = (
        "SELECT body, ordinal FROM spending JOIN attempts USING (run, ordinal) WHERE run = %s AND ordinal > %s "
        f"AND claim = attempts AND octet_length(body) <= {_HELD_BYTES} "
        "AND ordinal IN (SELECT ordinal FROM sessions s WHERE s.run = spending.run AND NOT has_ended) "
        "ORDER BY ordinal LIMIT %s"
    )
    return _pages(link, query, [run], [_LEAST])


def _commits(link: Link, *, run: int, after: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_BODY}, place FROM commits JOIN results USING (run, ordinal) WHERE run = %s AND place > %s "
        "ORDER BY place LIMIT %s"
    )
    whole = f"{_WHOLE} commits JOIN results USING (run, ordinal) WHERE run = %s AND place = %s"
    return _whole(link, _pages(link, query, [run], [after]), whole, run, size=1)


def _pages(
    link: Link, query: str, where: Sequence[int | str], after: Sequence[int | float], *, size: int = _PAGE
) -> Iterator[_Row]:
    """All rows of a query that selects, behind the first column, the place that the next page goes on from."""
    while page := _fetch(link, query, (*where, *after, size)):
        yield from page
        if len(page) < size:
            return
        after = page[-1][1:]


def _fetch(link: Link, query: str, values: Sequence[object] | Mapping[str, object]) -> list[_Row]:
    return link.run(lambda db: db.execute(query, values, binary=True).fetchall())


def scan_runs(database: Database, query: RunQuery) -> Iterator[RunView]:
    """The stored runs that match, newest first.

    Raises:
        StoreError: the database cannot be read, or a record in it, or a run needs a newer program.
    """
    remaining = query.limit
    values: dict[str, object] = {
        "plan_id": query.plan_id,
        "run_ids": list(query.run_ids) or None,
        "without": list(query.without),
    }
    with database.reader() as link:
        if link is None:
            return
        for row in _runs(link, values):
            if remaining == 0:
                return
            view = _view(database, _with_long(link, row))
            if is_selected(view.head, query):
                remaining = None if remaining is None else remaining - 1
                yield view


def _runs(link: Link, values: dict[str, object]) -> Iterator[_Row]:
    after: tuple[float, int] = (float("inf"), 0)
    while True:
        page = _fetch(link, _RUNS_PAGE, {**values, "started_at": after[0], "run": after[1], "size": _RUNS})
        yield from page
        if len(page) < _RUNS:
            return
        after = page[-1][-2:]


def _with_long(link: Link, row: _Row) -> _Row:
    """A row of `_RUNS_PAGE` with head and summary, also where they are too long to be held with others."""
    if row[0] is not None:
        return row
    query = (
        f"SELECT CASE WHEN octet_length(head) <= {LARGEST} THEN head END, "
        f"CASE WHEN octet_length(summary) <= {LARGEST} THEN summary END FROM runs WHERE run = %s"
    )
    return (*_fetch(link, query, row[-1:])[0], *row[2:])


_SHORT = f"octet_length(head) + coalesce(octet_length(summary), 0) <= {16 * _HELD_BYTES}"
_RUNS_PAGE = f"""SELECT CASE WHEN {_SHORT} THEN head END, CASE WHEN {_SHORT} THEN summary END,
    run_id, schema_version, state, {OWNED}, finished_at, resumes, started_at, run
FROM runs WHERE (started_at, run) < (%(started_at)s::double precision, %(run)s::integer)
    AND (%(plan_id)s::text IS NULL OR plan_id = %(plan_id)s)
    AND (%(run_ids)s::text[] IS NULL OR run_id = ANY(%(run_ids)s::text[]))
    AND run_id <> ALL(%(without)s::text[])
ORDER BY started_at DESC, run DESC LIMIT %(size)s"""


def _view(database: Database, row: _Row) -> RunView:
    head, summary, run_id, version, state, is_owned, finished_at, resumes, started_at, run = row
    extra = reading(version, run_id)
    if head is None:
        raise damaged(str(database), f"the plan of run {run_id} is larger than any that is stored")
    if state == RunState.RUNNING and not is_owned:
        state = RunState.INTERRUPTED  # its process can no longer say so
    try:
        info = RunInfo(run_id=run_id, state=state, started_at=started_at, finished_at=finished_at, resumed=resumes > 0)
    except ValueError as error:
        raise damaged(str(database), f"run {run_id} cannot be read") from error
    return RunView(
        run=info,
        head=decode(PlanHead, head, extra=extra, subject=f"{database}: the plan of run {run_id}"),
        summary=(
            Summary(counts=Counts(), groups=())
            if summary is None
            else decode(Summary, summary, extra=extra, subject=f"{database}: the summary of run {run_id}")
        ),
        source=Stored(database, run, extra, run_id),
    )
