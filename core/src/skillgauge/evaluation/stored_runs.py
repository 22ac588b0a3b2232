"""Find runs in the store that the configuration names, and reports in files. Reading never makes a store."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted, moment

from ..contract.stores import RunQuery, Store
from ..errors import Problem, Severity, SkillgaugeError, UsageError, did_you_mean
from ..run.stored_run import why_foreign, why_summary_foreign
from ..types.result import RunView
from .baselines import baseline_source
from .invocation import Invocation

LATEST = "latest"
"""The word for the newest run; `latest~1` is the one before it, and so on."""
_NEWEST = re.compile(rf"{LATEST}(?:~(\d{{1,6}}))?")
_LIST_HINT = "List the runs with: skillgauge history list"
_NAMED = 10
_SHOWN_HINT = "Whoever can write the store chose what it says. Evaluate again to measure it yourself."
_REFUSED_HINT = "Evaluate again, or give a report of that run in a file: a file that you name is your word."


@contextmanager
def opened_store(call: Invocation) -> Iterator[Store]:
    """The store, closed at the end.

    Raises:
        PluginError: no installed plugin serves its address.
    """
    store = call.open_store()
    try:
        yield store
    finally:
        asyncio.run(store.close())


def store_place(call: Invocation) -> str:
    """Where the runs are kept, as the user wrote it."""
    return str(call.config.get("store"))


def find_run(store: Store, wanted: str) -> RunView | None:
    """The run that an id, the beginning of one, `latest` or `latest~N` means; `None` if the store has no runs at all.

    Raises:
        UsageError: no run has such an id, or several have.
    """
    if newest := _NEWEST.fullmatch(wanted):
        return _newest(store, int(newest[1] or 0))
    known: list[str] = []
    found: list[RunView] = []
    for view in store.scan(RunQuery()):
        known.append(view.run.run_id)
        if view.run.run_id == wanted:
            return view
        if view.run.run_id.startswith(wanted):
            found.append(view)
    if not known:
        return None
    if len(found) == 1:
        return found[0]
    if found:
        listed = [f"{plain(view.run.run_id)} ({moment(view.run.started_at)})" for view in found[:_NAMED]]
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        message = f"{len(found)} runs begin with {plain(wanted)!r}: {', '.join(listed)}{more}"
        raise UsageError(Problem("history.ambiguous-run", message, hint="Give more characters of the id."))
    message = f"there is no run {plain(wanted)!r}{plain(did_you_mean(wanted, known))}"
    raise UsageError(Problem("history.no-such-run", message, hint=_LIST_HINT))


def _newest(store: Store, back: int) -> RunView | None:
    """The run so many before the newest; `None` if there are no runs at all."""
    views = list(store.scan(RunQuery(limit=back + 1)))
    if not views:
        return None
    if back < len(views):
        return views[back]
    message = f"there is no run {LATEST}~{back}: the store has {len(views)}"
    raise UsageError(Problem("history.no-such-run", message, hint=_LIST_HINT))


def own_runs(call: Invocation, views: Iterable[RunView], use: str) -> Generator[RunView]:
    """Stored runs without those that this user did not write, of which a notice tells when it is closed.

    Args:
        call: the command line.
        views: stored runs, each of which is read as a whole.
        use: what rests on them, for the notice.
    """
    foreign: list[str] = []
    try:
        for view in views:
            if why_foreign(view):
                foreign.append(plain(view.run.run_id))
            else:
                yield view
    finally:
        if foreign:
            call.listener.notice(f"{use}: not signed with your key and passed over: {_listed(foreign)}")


def tell_foreign(call: Invocation, views: Sequence[RunView]) -> None:
    """Warn of stored runs that are shown although this user did not write them.

    Only signatures of summaries are looked at, so that no run is read for it.
    """
    foreign = [plain(view.run.run_id) for view in views if why_summary_foreign(view)]
    if foreign:
        message = f"not signed with your key, in {store_place(call)}: {_listed(foreign)}"
        call.listener.problems([Problem("store.not-yours", message, hint=_SHOWN_HINT, severity=Severity.WARNING)])


def _listed(run_ids: Sequence[str]) -> str:
    more = f" and {len(run_ids) - _NAMED} more" if len(run_ids) > _NAMED else ""
    return f"{counted(len(run_ids), 'run')} ({', '.join(run_ids[:_NAMED])}{more})"


@contextmanager
def run_reports(
    call: Invocation, sources: Sequence[str], problems: Sequence[Problem] = (), *, counted_in: Collection[str] = ()
) -> Iterator[list[RunView]]:
    """Reports in files and runs of the store, readable until the end.

    A stored run that this user did not write comes with a warning. With `--untrusted` it is refused, and so it is where
    its results would count in a new run. A file is the word of the user who names it.

    A name of a baseline means its file, and what is a file, or looks like one (with a folder or an ending), is one. The
    rest is looked for in the store.

    Args:
        call: the command line.
        sources: names of baselines, paths, ids of runs or the beginning of one, `latest`, `latest~1`.
        problems: what is wrong already, to be told together with what is wrong with the sources.
        counted_in: those of the sources whose results become part of a new run.

    Raises:
        UsageError: with every problem of every source.
    """
    views, found = [], list(problems)
    with ExitStack() as stack:
        store: Store | None = None
        for source in (baseline_source(call, source) for source in sources):
            try:
                if _is_file(source):
                    views.append(call.read_run(Path(source)))
                else:
                    store = store or stack.enter_context(opened_store(call))
                    view = _stored(call, store, source)
                    if foreign := _foreign(call, view, counts=source in counted_in):
                        raise UsageError(foreign)
                    views.append(view)
            except SkillgaugeError as error:
                found.extend(error.problems)
        if found:
            raise UsageError(found)
        yield views


def _foreign(call: Invocation, view: RunView, *, counts: bool) -> Problem | None:
    """Why a stored run is refused; where it is only shown, or compared with, the user is warned."""
    why = why_foreign(view)
    if not why:
        return None
    is_refused = counts or call.globals.untrusted
    message = f"run {plain(view.run.run_id)} in {store_place(call)} is not your own word: {why}"
    if is_refused:
        return Problem("store.not-yours", message, hint=_REFUSED_HINT)
    call.listener.problems([Problem("store.not-yours", message, hint=_SHOWN_HINT, severity=Severity.WARNING)])
    return None


def _is_file(source: str) -> bool:
    path = Path(source)
    is_there = os.path.exists(path)  # noqa: PTH110 - never raises
    return is_there or path.name != source or bool(path.suffix)


def _stored(call: Invocation, store: Store, wanted: str) -> RunView:
    view = find_run(store, wanted)
    if view is not None:
        return view
    message = f"{plain(wanted)!r} is no file, and no runs are stored in {store_place(call)}"
    hint = "Give a report, or name the store with --store PLACE."
    raise UsageError(Problem("history.no-runs", message, hint=hint))
