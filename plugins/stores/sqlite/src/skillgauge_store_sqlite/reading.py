"""Streams stored results and runs.

Each reader has a connection of its own. It reads page by page, each page a query of its own that continues behind
the last row: a reader that pauses holds no snapshot for long, which would keep the log from being emptied, and no
more than a few rows are in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from skillgauge.api import CaseHead, PlanHead, ResultOrder, RunQuery, TrialResult, UnderWay, Unfinished, Verdict
from skillgauge.api.report import Counts, GroupKey, Progress, RunInfo, RunState, RunView, Summary
from skillgauge_documents.immutables import immutable
from skillgauge_stored_runs import Extra, ModelT, decode, facts_of, group_of, is_selected, reading, result_of

from .database import Database
from .ownership import OWNER_COLUMNS, Lease
from .rows import GROUP
from .schema import ORDINAL_BITS, first_key
from .trouble import TROUBLES, damaged, explain

_PAGE = 500
_MERGED = 64
"""Rows that are held while the groups of a suite are merged, one of each group at least."""
_HELD_BYTES = 1024 * 1024
"""A longer text is read when its turn has come, and not held with the others."""
_LEAST = -(2**63)
_CONTENT, _FACTS = "body, trajectory", "body, NULL"
"""The columns of a result, with its trajectory and without it."""
_SIZES = {
    _CONTENT: "length(CAST(body AS BLOB)) + coalesce(length(trajectory), 0)",
    _FACTS: "length(CAST(body AS BLOB))",
}
_HELD = {
    content: ", ".join(f"CASE WHEN {size} <= {_HELD_BYTES} THEN {column} END" for column in content.split(", "))
    for content, size in _SIZES.items()
}
"""The same columns, or nothing where they are too long to be held."""
_Row = tuple[Any, ...]
"""The stored JSON of a record, and last the place that tells it from others of its run."""


@immutable
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
            StoreError: the file cannot be read, or a record in it.
        """
        return self._results(partial(_bodies, run=self.run, order=order, group=group))

    def abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `Parted.abridged`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        rows = partial(_bodies, run=self.run, order=order, group=group, content=_FACTS)
        for body, _, *_, place in self._rows(rows):
            yield facts_of(body, extra=self.extra, subject=self._result, place=place)

    def of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        """See `Parted.of_case`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        return self._results(partial(_bodies_of_case, run=self.run, suite_id=suite_id, case_index=case_index))

    def of_trial(self, ordinal: int) -> TrialResult | None:
        """See `Parted.of_trial`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        return next(self._results(partial(_body_of_trial, run=self.run, ordinal=ordinal)), None)

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`. A run that an older version stored tells none.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        return self._decoded(CaseHead, "case {}", partial(_cases, run=self.run))

    def unfinished(self) -> Iterator[Unfinished]:
        """See `RunLog.unfinished`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        return self._decoded(Unfinished, "spending of attempt {}", partial(_spending, run=self.run))

    def progress(self) -> Progress:
        """See `Followed.progress`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        counts: dict[GroupKey, dict[Verdict, int]] = {}
        rows = partial(_counts, run=self.run)
        for *group, verdict, number in self._rows(rows):
            counts.setdefault(GroupKey(*group), {})[Verdict(verdict)] = number
        under_way = self._decoded(UnderWay, "the session in row {}", partial(_sessions, run=self.run))
        latest = self._decoded(Unfinished, "the spending in row {}", partial(_latest_spending, run=self.run))
        spent = {one.ordinal: one for one in latest}
        return Progress(counts, tuple(one.after(spent.get(one.ordinal)) for one in under_way))

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """See `Followed.results_since`.

        Raises:
            StoreError: the file cannot be read, or a record in it.
        """
        subject = f"{self.database.path}: result {{}} of run {self.run_id}, as they were committed,"
        for body, _, place in self._rows(partial(_commits, run=self.run, after=after)):
            yield place, facts_of(body, extra=self.extra, subject=subject, place=place)

    @property
    def _result(self) -> str:
        """Names a result in an error."""
        return f"{self.database.path}: the result in row {{}} of run {self.run_id}"

    def _results(self, read: Callable[[sqlite3.Connection], Iterator[_Row]]) -> Iterator[TrialResult]:
        for body, trajectory, *_, place in self._rows(read):
            yield result_of(body, trajectory, extra=self.extra, subject=self._result, place=place)

    def _rows(self, read: Callable[[sqlite3.Connection], Iterator[_Row]]) -> Iterator[_Row]:
        db = self.database.reader()
        if db is None:
            return
        with closing(db):
            try:
                yield from read(db)
            except TROUBLES as error:
                raise explain(error, self.database.path) from error

    def _decoded(
        self, model: type[ModelT], subject: str, read: Callable[[sqlite3.Connection], Iterator[_Row]]
    ) -> Iterator[ModelT]:
        subject = f"{self.database.path}: {subject} of run {self.run_id}"
        for body, *_, place in self._rows(read):
            yield decode(model, body, extra=self.extra, subject=subject, place=place)


def _bodies(
    db: sqlite3.Connection, *, run: int, order: ResultOrder, group: GroupKey | None, content: str = _CONTENT
) -> Iterator[_Row]:
    chosen = "run = ?" if group is None else GROUP
    columns = (run,) if group is None else (run, *group_of(group))
    if order is ResultOrder.CASE:
        return _in_case_order(db, chosen, columns, content)
    if group is None:
        query = f"SELECT {content}, id FROM results WHERE id < ? AND id > ? ORDER BY id LIMIT ?"
        return _pages(db, query, [first_key(run + 1)], [first_key(run) - 1], width=2)
    of_group = "results INDEXED BY results_by_group WHERE grp = ? AND id > ?"
    query = f"SELECT {content}, id FROM {of_group} ORDER BY id LIMIT ?"
    row = db.execute(f"SELECT grp FROM groups WHERE {chosen}", columns).fetchone()
    return _pages(db, query, row, [_LEAST], width=2) if row else iter(())


_GROUP_ORDER = "suite_id, target_id, runner, model, arm"


def _in_case_order(
    db: sqlite3.Connection, chosen: str, columns: Sequence[int | str | None], content: str
) -> Iterator[_Row]:
    """Each group is read by case already; those of a suite are merged, a few rows of each at a time."""
    groups = db.execute(f"SELECT suite_id, grp FROM groups WHERE {chosen} ORDER BY {_GROUP_ORDER}", columns).fetchall()
    query = (
        f"SELECT {_HELD[content]}, case_index, repeat, id FROM results "
        "WHERE grp = ? AND (case_index, repeat, id) > (?, ?, ?) ORDER BY case_index, repeat, id LIMIT ?"
    )
    for _, members in groupby(groups, key=itemgetter(0)):
        numbers = [number for _, number in members]
        size = max(1, _MERGED // len(numbers))
        streams = [_pages(db, query, [number], [_LEAST] * 3, size=size, width=2) for number in numbers]
        for body, trajectory, *place in merge(*streams, key=itemgetter(2)):
            if body is None:
                body, trajectory = db.execute(f"SELECT {content} FROM results WHERE id = ?", place[-1:]).fetchone()
            yield (body, trajectory, *place)


def _bodies_of_case(db: sqlite3.Connection, *, run: int, suite_id: str, case_index: int) -> Iterator[_Row]:
    query = f"SELECT grp FROM groups WHERE run = ? AND suite_id = ? ORDER BY {_GROUP_ORDER}"
    of_group = f"SELECT {_CONTENT}, id FROM results WHERE grp = ? AND case_index = ? ORDER BY repeat, id"
    for (number,) in db.execute(query, (run, suite_id)).fetchall():
        yield from db.execute(of_group, (number, case_index))


def _body_of_trial(db: sqlite3.Connection, *, run: int, ordinal: int) -> Iterator[_Row]:
    if not 0 <= ordinal < 1 << ORDINAL_BITS:
        return iter(())
    return db.execute(f"SELECT {_CONTENT}, id FROM results WHERE id = ?", (first_key(run) + ordinal,))


def _cases(db: sqlite3.Connection, *, run: int) -> Iterator[_Row]:
    query = (
        "SELECT body, suite_id, case_index FROM cases WHERE run = ? AND (suite_id, case_index) > (?, ?) "
        "ORDER BY suite_id, case_index LIMIT ?"
    )
    return _pages(db, query, [run], ["", _LEAST])


def _spending(db: sqlite3.Connection, *, run: int) -> Iterator[_Row]:
    query = (
        "SELECT body, id, claim FROM spending WHERE id < ? AND (id, claim) > (?, ?) "
        "AND NOT EXISTS (SELECT 1 FROM results WHERE results.id = spending.id) ORDER BY id, claim LIMIT ?"
    )
    return _pages(db, query, [first_key(run + 1)], [first_key(run), 0])


def _counts(db: sqlite3.Connection, *, run: int) -> Iterator[_Row]:
    """The columns of a group, a verdict, and how many results have it; all from an index."""
    groups = db.execute("SELECT grp, suite_id, target_id, arm, runner, model FROM groups WHERE run = ?", (run,))
    query = "SELECT verdict, count(*) FROM results INDEXED BY results_by_verdict WHERE grp = ? GROUP BY verdict"
    for number, *group in groups.fetchall():
        for counted in db.execute(query, (number,)).fetchall():
            yield (*group, *counted)


def _sessions(db: sqlite3.Connection, *, run: int) -> Iterator[_Row]:
    query = "SELECT body, id FROM sessions WHERE id < ? AND id > ? ORDER BY id LIMIT ?"
    return _pages(db, query, [first_key(run + 1)], [first_key(run) - 1])


def _latest_spending(db: sqlite3.Connection, *, run: int) -> Iterator[_Row]:
    """The spending of sessions under way, of the claim that they are under way by."""
    query = (
        "SELECT spending.body, spending.id FROM sessions JOIN attempts USING (id) "
        "JOIN spending ON spending.id = sessions.id AND claim = attempts "
        "WHERE sessions.id < ? AND sessions.id > ? ORDER BY sessions.id LIMIT ?"
    )
    return _pages(db, query, [first_key(run + 1)], [first_key(run) - 1])


def _commits(db: sqlite3.Connection, *, run: int, after: int) -> Iterator[_Row]:
    query = (
        f"SELECT {_FACTS}, place FROM commits JOIN results USING (id) "
        "WHERE run = ? AND place > ? ORDER BY place LIMIT ?"
    )
    return _pages(db, query, [run], [after], width=2)


def _pages(
    db: sqlite3.Connection,
    query: str,
    where: Sequence[int],
    after: Sequence[int | str],
    *,
    size: int | None = None,
    width: int = 1,
) -> Iterator[_Row]:
    """All rows of a query that selects, behind its content, the place that the next page goes on from.

    `size`: rows of a page that is read at once, for a reader that has several queries open; `width`: columns of the
    content.
    """
    more = True
    while more:
        more = False
        page = db.execute(query, (*where, *after, size or _PAGE))
        for row in page.fetchall() if size else page:
            more, after = True, row[width:]
            yield row


def scan_runs(database: Database, query: RunQuery, lease: Lease) -> Iterator[RunView]:
    """The stored runs that match, newest first.

    Raises:
        StoreError: the file cannot be read, or a record in it, or a run needs a newer program.
    """
    db = database.reader()
    if db is None:
        return
    remaining = query.limit
    with closing(db):
        try:
            # Not by number alone: a run from elsewhere comes later than it began.
            where, values = ("plan_id = ?", (query.plan_id,)) if query.plan_id is not None else ("TRUE", ())
            order = "ORDER BY started_at DESC, run DESC"
            keys = db.execute(f"SELECT run, run_id FROM runs WHERE {where} {order}", values).fetchall()
            for run, run_id in keys:
                if remaining == 0:
                    return
                if not query.names(run_id):
                    continue
                try:
                    view = _view(database, db, run, lease)
                except (AttributeError, TypeError, ValueError) as error:  # a row is not there, or of other types
                    raise damaged(database.path, f"run {run_id} cannot be read") from error
                if is_selected(view.head, query):
                    remaining = None if remaining is None else remaining - 1
                    yield view
        except TROUBLES as error:
            raise explain(error, database.path) from error


def _view(database: Database, db: sqlite3.Connection, run: int, lease: Lease) -> RunView:
    columns = "run_id, schema_version, state, started_at, finished_at, resumes, head, summary"
    row = db.execute(
        f"SELECT {columns}, {OWNER_COLUMNS} FROM runs LEFT JOIN owners USING (run) WHERE run = ?", (run,)
    ).fetchone()
    run_id, version, state, started_at, finished_at, resumes, head, summary, *owner = row
    extra = reading(version, run_id)
    if state == RunState.RUNNING and not lease.is_owned(*owner):
        state = RunState.INTERRUPTED  # its process can no longer say so
    info = RunInfo(run_id=run_id, state=state, started_at=started_at, finished_at=finished_at, resumed=resumes > 0)
    return RunView(
        run=info,
        head=decode(PlanHead, head, extra=extra, subject=f"{database.path}: the plan of run {run_id}"),
        summary=(
            Summary(counts=Counts(), groups=())
            if summary is None
            else decode(Summary, summary, extra=extra, subject=f"{database.path}: the summary of run {run_id}")
        ),
        source=Stored(database, run, extra, run_id),
    )
