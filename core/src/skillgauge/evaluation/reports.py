"""Write reports: which a run gets, who writes them, and where.

One stamp per run, whole files or none, and a copy under the name that does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path, PurePosixPath

from skillgauge_documents.immutables import immutable

from ..config.configuration import Config
from ..config.whole_files import is_stream, unwritable, write_whole
from ..contract.reporters import Artifact, Reporter, stamp
from ..errors import PluginError, Problem, UsageError
from ..plan.preparing import Prepared
from ..plugins.kinds import REPORTERS
from ..plugins.registry import Registry
from ..types.arms import GroupKey
from ..types.results.runs import ResultOrder, RunSource, RunView
from ..types.results.trials import TrialResult
from ..types.trial import CaseHead, SuiteHead
from .invocation import Invocation
from .remarks import said_if

AGENT_FORMATS = ("html",)
"""Reporters that are used beside the default ones for suites with agents, whose sessions somebody wants to read."""


@immutable
class Reports:
    """The reports of a run, and the places where they are written."""

    names: tuple[str, ...] = ()
    """Reporters, apart from the suites' own documents."""
    own: bool = False
    """Whether the suites' own documents are wanted."""
    optional: frozenset[str] = frozenset()
    """Names that are left out with a notice if they are not installed, because nobody asked for them."""
    folder: Path = Path("reports")
    """Absolute."""
    folder_given: bool = False
    """Whether the user named it, so that nothing goes where a suite wants its document."""
    by_suites: bool = True
    """Whether a suite's document is written where the suite itself wants it."""
    file: Path | None = None
    """Where the suites' own document goes instead; a folder if there are several."""

    def unwritable(self) -> tuple[Problem, ...]:
        """Return the places that reports cannot be written to, before anything is paid for."""
        folders = set[Path]()
        if self.names or (self.own and self.file is None):
            folders.add(self.folder)
        if self.file is not None and not is_stream(self.file):
            folders.add(self.file.absolute().parent)
        return tuple(filter(None, map(unwritable, sorted(folders))))

    def folder_of(self, suite: SuiteHead) -> str | None:
        """Return where a suite wants its document, if that counts."""
        if self.by_suites:
            return suite.report_folder
        return None


def with_agent_formats(options: Reports, prepared: Prepared, config: Config) -> Reports:
    """The reports of a run; more than the default ones if agents take part and nobody chose."""
    if not prepared.has_agents or not options.optional or config.is_set("defaultFormats"):
        return options
    names = tuple(dict.fromkeys((*options.names, *AGENT_FORMATS)))
    return replace(options, names=names, optional=options.optional | {*AGENT_FORMATS})


def make_reporters(call: Invocation, options: Reports, prepared: Prepared, *, dry_run: bool) -> dict[str, Reporter]:
    """Make every reporter before anything runs; a default one that is not installed is only mentioned.

    Args:
        call: the command line.
        options: which are wanted.
        prepared: what will run.
        dry_run: nothing will be written: they are found and their options checked, but none is made.
    """
    by_name: dict[str, Reporter] = {}
    missing = []
    for name in options.names:
        try:
            resolved = call.registry.resolve("reporters", name)
        except PluginError:
            if name not in options.optional:
                raise
            missing.append(name)
        else:
            checked = call.registry.validated_options(resolved)
            if not dry_run:
                by_name[resolved.name] = call.registry.make(REPORTERS, resolved, checked)
    suites = prepared.plan.head.suites
    _require_own(call.registry, options, suites)
    if options.own and not any(suite.document for suite in suites):
        call.listener.notice("--format json writes nothing: these suites have no document of their own")
    if missing:
        call.listener.notice(f"not installed, so not written: {', '.join(missing)} (reporters)")
    return by_name


def _require_own(registry: Registry, options: Reports, suites: Sequence[SuiteHead]) -> None:
    """Find the reporters of the suites' own documents.

    Raises:
        PluginError: one is not installed.
        UsageError: a folder is in the place of the one document.
    """
    documents = {suite.document for suite in suites if suite.document and (options.own or options.folder_of(suite))}
    for document in sorted(documents):
        registry.resolve("reporters", document)
    if options.file is not None and options.file.is_dir() and len(documents) == 1:
        message = f"cannot write {str(options.file)!r}: it is a folder"
        raise UsageError(Problem("usage.unwritable", message, hint="Name a file; only several documents get a folder."))


def own_documents(view: RunView, registry: Registry, options: Reports) -> dict[str, Callable[[], Path | None]]:
    """Return the writers of the documents of the suites' own formats; each format gets its part of the run."""
    by_document: dict[str, set[str]] = {}
    placed: dict[str, tuple[str, Path]] = {}
    has_place = options.file is not None or options.folder_given
    for suite in view.head.suites:
        wanted = options.folder_of(suite)
        if not suite.document:
            continue
        if wanted and not has_place:
            placed[suite.id] = suite.document, Path(wanted)
        elif options.own or wanted:
            by_document.setdefault(suite.document, set()).add(suite.id)
    documents = _OwnDocuments(view, registry, options, are_several=len(by_document) > 1)
    writers: dict[str, Callable[[], Path | None]] = {
        name: partial(documents.write, name, frozenset(ids)) for name, ids in by_document.items()
    }
    has_namesakes = len({name for name, _ in placed.values()}) < len(placed)
    for suite_id, (name, folder) in placed.items():
        title = f"{name}{said_if(has_namesakes, f' of {suite_id}')}"
        writers[title] = partial(documents.write_placed, suite_id, name, folder)
    return writers


@immutable
class _OwnDocuments:
    """Writes documents of suites' own formats."""

    view: RunView
    registry: Registry
    options: Reports
    are_several: bool

    def write(self, name: str, ids: frozenset[str]) -> Path | None:
        """Write the document of one format where the user wants it."""
        reporter = self.registry.make(REPORTERS, name)
        part = only_suites(self.view, ids)
        suffix = reporter.suffix
        if self.are_several:
            suffix = f"{name}.{suffix}"
        place = self.options.file
        if place is None:
            return write_report(part, name, reporter, self.options.folder, suffix=suffix)
        if self.are_several:
            place = place / suffix
        return write_at(part, name, reporter, place)

    def write_placed(self, suite_id: str, name: str, folder: Path) -> Path | None:
        """Write the document of one suite where the suite wants it."""
        reporter = self.registry.make(REPORTERS, name)
        place = free_place(folder, self.view.run.started_at, reporter.suffix)
        return write_at(only_suites(self.view, frozenset({suite_id})), name, reporter, place)


@immutable
class _Part:
    """The results and cases of some of a run's suites."""

    whole: RunSource
    suites: frozenset[str]

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return (one for one in self.whole.results(order, group) if one.suite_id in self.suites)

    def cases(self) -> Iterator[CaseHead]:
        return (case for case in self.whole.cases() if case.suite_id in self.suites)


def only_suites(view: RunView, ids: frozenset[str]) -> RunView:
    """The part of a run that belongs to some of its suites."""
    from ..types.comparison import Counts  # noqa: PLC0415 - with all evidence, which no plan needs

    head = view.head.model_copy(update={"suites": tuple(suite for suite in view.head.suites if suite.id in ids)})
    groups = tuple(group for group in view.summary.groups if group.suite_id in ids)
    pairs = tuple(pair for pair in view.summary.pairs if pair.candidate.suite_id in ids)
    validity = tuple(one for one in view.summary.validity if one.suite_id in ids)
    counts = Counts.sum(group.counts for group in groups)
    changes = {"counts": counts, "groups": groups, "pairs": pairs, "validity": validity}
    return RunView(view.run, head, view.summary.model_copy(update=changes), _Part(view.source, ids))


def write_report(
    view: RunView, name: str, reporter: Reporter, folder: Path, *, suffix: str | None = None
) -> Path | None:
    """Write one report of a run below a folder.

    A suite report becomes `eval-result-<stamp>.<suffix>` with a copy `eval-result.<suffix>`. The run record becomes
    `run-<stamp>.<suffix>`, so that a glob for results never matches it. Further files go to `<stamp>/<reporter>/`.

    Args:
        view: the run.
        name: the reporter's name.
        reporter: makes the files.
        folder: where they go.
        suffix: ending to use instead of the reporter's own, where two reports would have the same.

    Returns:
        Path of its first file, the stamped one; `None` if it renders none, because its report goes elsewhere.

    Raises:
        UsageError: the folder cannot be written.
        PluginError: the reporter does not work.
    """
    run_stamp = stamp(view.run.started_at)
    paths = [_place(one, name, suffix or reporter.suffix, folder, run_stamp) for one in reporter.render(view)]
    return next(iter(paths), None)


def _place(artifact: Artifact, name: str, suffix: str, folder: Path, run_stamp: str) -> Path:
    if artifact.path:
        path = _inside(folder / run_stamp / name, artifact, name)
        write_whole(path, artifact.chunks)
        return path
    path = _stamped(folder, run_stamp, suffix)
    write_whole(path, artifact.chunks)
    if not _is_record(suffix):
        write_whole(folder / f"eval-result.{suffix}", _chunks_of(path))
    return path


def report_path(folder: Path, view: RunView, suffix: str) -> Path:
    """Return the place of the one report file of a reporter.

    Args:
        folder: where reports go.
        view: the run.
        suffix: the reporter's.
    """
    return _stamped(folder, stamp(view.run.started_at), suffix)


def _stamped(folder: Path, run_stamp: str, suffix: str) -> Path:
    return folder / f"{'run' if _is_record(suffix) else 'eval-result'}-{run_stamp}.{suffix}"


def _is_record(suffix: str) -> bool:
    return suffix.startswith("record.")


def write_at(view: RunView, name: str, reporter: Reporter, place: Path) -> Path | None:
    """Write one report of a run to a place that somebody chose; further files go to the folder `<place>.files`.

    Args:
        view: the run.
        name: the reporter's name.
        reporter: makes the files.
        place: where its one report file goes.

    Returns:
        Path of its first file; `None` if it renders none.

    Raises:
        UsageError: the place cannot be written.
        PluginError: the reporter does not work.
    """
    beside = place.with_name(f"{place.name}.files")
    written: dict[Path, None] = {}
    for artifact in reporter.render(view):  # one after another: a file may be made of what an earlier one has read
        if artifact.path and is_stream(place):
            message = f"the report {name!r} consists of several files, and a stream such as stdout holds only one"
            raise UsageError(Problem("report.several-files", message, hint="Name a file with -o."))
        if artifact.path:
            path = _inside(beside, artifact, name)
        else:
            path = place
        if path in written:
            raise PluginError(Problem("plugin.broken", f"reporter {name!r} wants to write {str(path)!r} twice"))
        write_whole(path, artifact.chunks)
        written[path] = None
    return next(iter(written), None)


def _inside(folder: Path, artifact: Artifact, name: str) -> Path:
    """Return the place of a further file of a reporter, inside the reporter's folder."""
    relative = PurePosixPath(artifact.path)
    if relative.is_absolute() or ".." in relative.parts:
        message = f"reporter {name!r} wants to write {artifact.path!r}, outside its folder"
        raise PluginError(Problem("plugin.broken", message))
    return folder / relative


def _chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            yield chunk


def free_place(folder: Path, seconds: float, suffix: str) -> Path:
    """Return a free place in a folder that has a report for each run, named after the second in which the run began."""
    name = stamp(seconds)[:19] + "Z"
    numbers = chain([""], (f"-{number}" for number in count(2)))
    return next(path for number in numbers if not (path := folder / f"{name}{number}.{suffix}").exists())
