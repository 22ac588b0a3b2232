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
from skillgauge_stored_runs import (
    LARGEST,
    Extra,
    Group,
    ModelT,
    decode,
    facts_of,
    group_of,
    is_selected,
    reading,
    result_of,
)

from .database import Database
from .link import Link
from .ownership import OWNED
from .rows import CONTENT, FACTS, group_from, name_of, stored_name, within
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
_WHOLE_BODY = f"SELECT CASE WHEN octet_length(body) <= {LARGEST} THEN body END FROM"
_HELD, _WHOLE = within(_HELD_BYTES), within(2 * LARGEST)
_RESULT = "the result at place {}"
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
        return self._results(partial(_bodies, run=self.run, order=order, group=group))

    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `Parted.abridged`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        subject = self._named(_RESULT)
        rows = partial(_bodies, run=self.run, order=order, group=group, content=FACTS)
        for body, *_, place in self._rows(subject, rows):
            yield facts_of(body, extra=self.extra, subject=subject, place=place)

    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        """See `Parted.of_case`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        return self._results(partial(_bodies_of_case, run=self.run, suite_id=suite_id, case_index=case_index))

    def of_trial(self, ordinal: int) -> TrialResult | None:
        """See `Parted.of_trial`.

        Raises:
            StoreError: the database cannot be read, or a record in it.
        """
        return next(self._results(partial(_body_of_trial, run=self.run, ordinal=ordinal)), None)

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
        subject = self._named("the result that was committed in place {}")
        for body, *_, place in self._rows(subject, partial(_commits, run=self.run, after=after)):
            yield place, facts_of(body, extra=self.extra, subject=subject, place=place)

    def _results(self, read: Callable[[Link], Iterator[_Row]]) -> Iterator[TrialResult]:
        subject = self._named(_RESULT)
        for body, trajectory, *_, place in self._rows(subject, read):
            yield result_of(body, trajectory, extra=self.extra, subject=subject, place=place)

    def _decoded(self, model: type[ModelT], subject: str, read: Callable[[Link], Iterator[_Row]]) -> Iterator[ModelT]:
        subject = self._named(subject)
        for body, *_, place in self._rows(subject, read):
            yield decode(model, body, extra=self.extra, subject=subject, place=place)

    def _named(self, subject: str) -> str:
        return f"{self.database}: {subject} of run {self.run_id}"

    def _rows(self, subject: str, read: Callable[[Link], Iterator[_Row]]) -> Iterator[_Row]:
        with self.database.reader() as link:
            if link is None:
                return
            for row in read(link):
                if row[0] is None:
                    raise damaged(str(self.database), f"{subject.format(row[-1])} is larger than any that is stored")
                yield row


def _bodies(
    link: Link, *, run: int, order: ResultOrder, group: GroupKey | None, content: str = CONTENT
) -> Iterator[_Row]:
    if order is ResultOrder.PLAN and group is None:
        of_run = "results WHERE run = %s AND ordinal > %s ORDER BY ordinal LIMIT %s"
        rows = _pages(link, f"SELECT {_HELD[content]}, ordinal FROM {of_run}", [run], [_LEAST], width=2)
    else:
        chosen = None if group is None else group_of(group)
        groups = [(key, number) for key, number in _groups(link, run) if chosen in (None, key)]
        rows = (_in_case_order if order is ResultOrder.CASE else _of_groups)(link, groups, _HELD[content])
    return _whole_results(link, rows, run, content)


def _bodies_of_case(link: Link, *, run: int, suite_id: str, case_index: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_HELD[CONTENT]}, repeat, ordinal FROM results WHERE grp = %s AND case_index = %s "
        "AND (repeat, ordinal) > (%s, %s) ORDER BY repeat, ordinal LIMIT %s"
    )
    for key, number in sorted(_groups(link, run), key=lambda one: _order_of(one[0])):
        if key[0] == suite_id:
            rows = _pages(link, query, [number, case_index], [-1, _LEAST], width=2)
            yield from _whole_results(link, rows, run, CONTENT)


def _body_of_trial(link: Link, *, run: int, ordinal: int) -> Iterator[_Row]:
    if abs(ordinal) < -_LEAST:
        query = f"SELECT {_WHOLE[CONTENT]}, ordinal FROM results WHERE run = %s AND ordinal = %s"
        yield from _fetch(link, query, (run, ordinal))


def _whole_results(link: Link, rows: Iterator[_Row], run: int, content: str) -> Iterator[_Row]:
    """The same rows, with the texts that were too long to be held; the place ends with the result's in the plan."""
    query = f"SELECT {_WHOLE[content]} FROM results WHERE run = %s AND ordinal = %s"
    for body, trajectory, *place in rows:
        if body is None:
            ((body, trajectory),) = _fetch(link, query, (run, place[-1]))
        yield (body, trajectory, *place)


def _whole(link: Link, rows: Iterator[_Row], query: str, *where: int | str, size: int) -> Iterator[_Row]:
    """The same rows, with the bodies that were too long to be held; `size`: of the place that the query needs."""
    for body, *place in rows:
        if body is None:
            ((body,),) = _fetch(link, query, (*where, *place[-size:]))
        yield (body, *place)


def _of_groups(link: Link, groups: Sequence[tuple[Group, int]], held: str) -> Iterator[_Row]:
    query = f"SELECT {held}, ordinal FROM results WHERE grp = %s AND ordinal > %s ORDER BY ordinal LIMIT %s"
    for _, number in groups:
        yield from _pages(link, query, [number], [_LEAST], width=2)


def _in_case_order(link: Link, groups: Sequence[tuple[Group, int]], held: str) -> Iterator[_Row]:
    """Each group is read by case already; those of a suite are merged, a few rows of each at a time."""
    query = (
        f"SELECT {held}, case_index, repeat, ordinal FROM results "
        "WHERE grp = %s AND (case_index, repeat, ordinal) > (%s, %s, %s) "
        "ORDER BY case_index, repeat, ordinal LIMIT %s"
    )
    for _, members in groupby(sorted(groups, key=lambda one: _order_of(one[0])), key=lambda one: one[0][0]):
        numbers = [number for _, number in members]
        size = max(1, _MERGED // len(numbers))
        streams = [_pages(link, query, [number], [-1, -1, _LEAST], size=size, width=2) for number in numbers]
        yield from merge(*streams, key=itemgetter(2))


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
    whole = f"{_WHOLE_BODY} cases WHERE run = %s AND suite_id = %s AND case_index = %s"
    for suite_id in map(stored_name, suites):
        yield from _whole(link, _pages(link, query, [run, suite_id], [-1]), whole, run, suite_id, size=1)


_SUITES = "SELECT DISTINCT suite_id FROM cases WHERE run = %s"


def _spending(link: Link, *, run: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_BODY}, ordinal, claim FROM spending s WHERE run = %s AND (ordinal, claim) > (%s, %s) "
        "AND NOT EXISTS (SELECT FROM results r WHERE r.run = s.run AND r.ordinal = s.ordinal) "
        "ORDER BY ordinal, claim LIMIT %s"
    )
    whole = f"{_WHOLE_BODY} spending WHERE run = %s AND ordinal = %s AND claim = %s"
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
        f"SELECT {_HELD[FACTS]}, ordinal, place FROM commits JOIN results USING (run, ordinal) "
        "WHERE run = %s AND place > %s ORDER BY place LIMIT %s"
    )
    for body, _, ordinal, place in _pages(link, query, [run], [after], width=3):
        for whole, *_ in _whole_results(link, iter([(body, None, ordinal)]), run, FACTS):
            yield whole, place


def _pages(
    link: Link,
    query: str,
    where: Sequence[int | str],
    after: Sequence[int | float],
    *,
    size: int = _PAGE,
    width: int = 1,
) -> Iterator[_Row]:
    """All rows of a query that selects the place that the next page goes on from, behind so many columns of content."""
    while page := _fetch(link, query, (*where, *after, size)):
        yield from page
        if len(page) < size:
            return
        after = page[-1][width:]


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
