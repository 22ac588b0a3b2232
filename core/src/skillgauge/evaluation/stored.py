"""Find earlier runs: in the store that the configuration names, in reports, and under names.

Reading never makes a store. Baselines are runs kept under names, in files that are made to be committed.
`--last-failed` and `--changed` choose cases by what the newest stored run with them says of them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillgauge_documents.characters import plain
from skillgauge_documents.phrases import counted, listed, moment

from ..contract.stores import RunQuery, Store
from ..errors import Problem, Severity, SkillgaugeError, UsageError, did_you_mean
from ..report.progress import abridged_results
from ..run.stored_run import why_foreign, why_summary_foreign
from ..types.arms import GroupKey
from ..types.plan import Plan
from ..types.results.runs import RunView
from ..types.results.trials import Verdict
from ..types.trial import CaseHead
from .invocation import Invocation, opened_store
from .remarks import said_if
from .selection import Choice, case_key, is_failure

if TYPE_CHECKING:
    from ..plan.options import EvalOptions

LATEST = "latest"
"""The word for the newest run; `latest~1` is the one before it, and so on."""
_NEWEST = re.compile(rf"{LATEST}(?:~(\d{{1,6}}))?")
_LIST_HINT = "List the runs with: skillgauge history list"
_NAMED = 10
_SHOWN_HINT = "Whoever can write the store chose what it says. Evaluate again to measure it yourself."
_REFUSED_HINT = "Evaluate again, or give a report of that run in a file: a file that you name is your word."


def store_place(call: Invocation) -> str:
    """Return the place where the runs are kept, as the user wrote it."""
    return str(call.config.get("store"))


def find_run(store: Store, reference: str) -> RunView | None:
    """The run that an id, the beginning of one, `latest` or `latest~N` means; `None` if the store has no runs at all.

    Raises:
        UsageError: no run has such an id, or several have.
    """
    if newest := _NEWEST.fullmatch(reference):
        return _newest(store, int(newest[1] or 0))
    run_ids: list[str] = []
    matches: list[RunView] = []
    for view in store.scan(RunQuery()):
        run_ids.append(view.run.run_id)
        if view.run.run_id == reference:
            return view
        if view.run.run_id.startswith(reference):
            matches.append(view)
    if not run_ids:
        return None
    if len(matches) == 1:
        return matches[0]
    if matches:
        runs = listed([f"{view.run.run_id} ({moment(view.run.started_at)})" for view in matches], _NAMED)
        message = f"{len(matches)} runs begin with {plain(reference)!r}: {runs}"
        raise UsageError(Problem("history.ambiguous-run", message, hint="Give more characters of the id."))
    message = f"there is no run {plain(reference)!r}{plain(did_you_mean(reference, run_ids))}"
    raise UsageError(Problem("history.no-such-run", message, hint=_LIST_HINT))


def _newest(store: Store, steps_back: int) -> RunView | None:
    """The run so many before the newest; `None` if there are no runs at all."""
    views = list(store.scan(RunQuery(limit=steps_back + 1)))
    if not views:
        return None
    if steps_back < len(views):
        return views[steps_back]
    message = f"there is no run {LATEST}~{steps_back}: the store has {len(views)}"
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
    return f"{counted(len(run_ids), 'run')} ({listed(run_ids, _NAMED)})"


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
        UsageError.raise_for(found)
        yield views


def _foreign(call: Invocation, view: RunView, *, counts: bool) -> Problem | None:
    """Return the reason why a stored run is refused; where it is only shown, or compared with, the user is warned."""
    if not (why := why_foreign(view)):
        return None
    message = f"run {plain(view.run.run_id)} in {store_place(call)} is not your own word: {why}"
    if counts or call.globals.untrusted:
        return Problem("store.not-yours", message, hint=_REFUSED_HINT)
    call.listener.problems([Problem("store.not-yours", message, hint=_SHOWN_HINT, severity=Severity.WARNING)])
    return None


def _is_file(source: str) -> bool:
    path = Path(source)
    is_there = os.path.exists(path)  # noqa: PTH110 - never raises
    return is_there or path.name != source or bool(path.suffix)


def _stored(call: Invocation, store: Store, reference: str) -> RunView:
    view = find_run(store, reference)
    if view is not None:
        return view
    message = f"{plain(reference)!r} is no file, and no runs are stored in {store_place(call)}"
    hint = "Give a report, or name the store with --store PLACE."
    raise UsageError(Problem("history.no-runs", message, hint=hint))


BASELINES = "baselines"
"""Folder, below the current one, in which runs are kept under names."""
_SUFFIX = ".record.json"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")


def baseline_file(call: Invocation, name: str) -> Path:
    """Return the file in which a run is kept under a name.

    Raises:
        UsageError: this cannot be the name of a file everywhere.
    """
    if not _NAME.fullmatch(name):
        message = f"{plain(name)!r} cannot be the name of a baseline"
        raise UsageError(Problem("usage.baseline", message, hint="Use letters, digits, '.', '_' and '-'."))
    return call.cwd / BASELINES / f"{name}{_SUFFIX}"


def baseline_files(call: Invocation) -> Mapping[str, Path]:
    """The runs that are kept under names, by name."""
    files = sorted((call.cwd / BASELINES).glob(f"*{_SUFFIX}"))
    return {path.name.removesuffix(_SUFFIX): path for path in files}


def baseline_source(call: Invocation, word: str) -> str:
    """The file of the run that is kept under this name; the word itself if there is none."""
    return str(baseline_files(call).get(word, word))


Place = tuple[str, str]
"""Suite and case, by their ids."""


RUNS = 50
"""Runs that are looked through, newest first, for what they say of each case."""


@dataclass
class Earlier:
    """The newest run that has a case, and its results for it: a run may have been of some cases only."""

    runs: list[str] = field(default_factory=list)
    """The runs that say anything, newest first."""
    failed: set[Place] = field(default_factory=set)
    """Cases of which a trial failed or ended in an error, in arms that are not mere baselines."""
    done: dict[tuple[GroupKey, str], tuple[str, str]] = field(default_factory=dict)
    """Of each case with a verdict: the execution of its first repeat, and the digest of the case."""

    def read(self, view: RunView, cases: set[Place]) -> set[Place]:
        """Take what a run says of some cases; those of which it says anything."""
        heads = view.head.suites_by_id
        digests = {(case.suite_id, case.id): case.digest for case in view.cases()}
        places_read = set()
        for result in abridged_results(view.source):
            place = (result.suite_id, result.case_id)
            if place not in cases:
                continue
            places_read.add(place)
            if is_failure(result, heads[result.suite_id]):
                self.failed.add(place)
            if result.repeat == 1 and result.verdict is not Verdict.ERROR:
                self.done[result.group, result.case_id] = (result.execution_id, digests.get(place, ""))
        if places_read:
            self.runs.append(view.run.run_id)
        return places_read


def earlier_runs(call: Invocation, cases: set[Place]) -> Earlier:
    """Read what this user's own stored runs say of some cases; without a store they say nothing."""
    earlier, missing = Earlier(), set(cases)
    suites = {suite for suite, _ in cases}
    with suppress(SkillgaugeError), opened_store(call) as store:
        runs = store.scan(RunQuery(limit=RUNS))
        related = (view for view in runs if suites & {suite.id for suite in view.head.suites})
        with closing(own_runs(call, related, "earlier runs")) as own:
            for view in own:
                missing -= earlier.read(view, missing)
                if not missing:
                    break
    return earlier


async def by_earlier_runs(
    call: Invocation, options: EvalOptions, *, last_failed: bool, changed: bool
) -> EvalOptions | None:
    """Return the same, of the cases that failed last, or have changed since; `None` if none has."""
    if last_failed:
        options = await asyncio.to_thread(only_failed, call, options)
    if not changed:
        return options
    from .preparation import prepare_trusted  # noqa: PLC0415 - slow, and most who read earlier runs plan nothing

    whole = await prepare_trusted(call, options)
    narrowed = await asyncio.to_thread(only_changed, call, options, whole.plan)
    await whole.job.store.close()
    return narrowed


def only_failed(call: Invocation, options: EvalOptions) -> EvalOptions:
    """The same, of the cases that failed last; of all if none did, or none has run."""
    from ..plan.suites import load_suites  # noqa: PLC0415 - all that reads suites; what shows stored runs needs none

    loaded = load_suites(options.what, options.cwd, call.registry).suites
    earlier = earlier_runs(call, {(suite.id, case.id) for suite in loaded for case in suite.cases})
    keys = frozenset(
        case_key(case) for suite in loaded for case in suite.cases if (suite.id, case.id) in earlier.failed
    )
    if not keys:
        why = "no earlier run of this is stored"
        if earlier.runs:
            why = f"nothing failed in {_named(earlier)}"
        call.listener.notice(f"--last-failed: {why}, so all cases are run")
        return options
    call.listener.notice(f"--last-failed: {counted(len(keys), 'case')} that did not pass in {_named(earlier)}")
    return _narrowed(options, keys)


def only_changed(call: Invocation, options: EvalOptions, plan: Plan) -> EvalOptions | None:
    """The same, of the cases whose outcome may have changed, or that have no verdict; `None` if there is none."""
    earlier = earlier_runs(call, {(trial.suite_id, trial.case.id) for trial in plan.trials()})
    keys = set()
    for trial in plan.trials():
        now = (trial.execution_id, CaseHead.of(trial).digest)
        if trial.repeat == 1 and earlier.done.get((trial.group, trial.case.id)) != now:
            keys.add(case_key(trial.case))
    if not keys:
        call.listener.notice(f"--changed: all is as in {_named(earlier)}")
        return None
    since = ": no earlier run of this is stored"
    if earlier.runs:
        since = f" since {_named(earlier)}"
    call.listener.notice(f"--changed: {counted(len(keys), 'case')}{since}")
    return _narrowed(options, frozenset(keys))


def _named(earlier: Earlier) -> str:
    more = said_if(len(earlier.runs) > 1, f" and {len(earlier.runs) - 1} before it")
    return f"run {plain(earlier.runs[0])}{more}"


def _narrowed(options: EvalOptions, keys: frozenset[str]) -> EvalOptions:
    selection = options.what.selection
    assert isinstance(selection, Choice)
    chosen = selection.model_copy(update={"only": keys})
    return replace(options, what=replace(options.what, selection=chosen))
