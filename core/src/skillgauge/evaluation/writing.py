"""Write reports: one stamp per run, whole files or none, and a copy under the name that does not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path, PurePosixPath

from ..config.whole_files import write_whole
from ..contract.reporters import Artifact, Reporter
from ..errors import PluginError, Problem
from ..types.comparison import Counts, GroupKey
from ..types.result import ResultOrder, RunSource, RunView, TrialResult
from ..types.trial import CaseHead


def stamp(seconds: float) -> str:
    """A run's start as it appears in file names: sortable, without characters that a file system refuses."""
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return moment[:23].replace(":", "-").replace(".", "-") + "Z"


@dataclass(frozen=True)
class _Part:
    """What a run's source holds of some of its suites."""

    whole: RunSource
    suites: frozenset[str]

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return (one for one in self.whole.results(order, group) if one.suite_id in self.suites)

    def cases(self) -> Iterator[CaseHead]:
        return (case for case in self.whole.cases() if case.suite_id in self.suites)


def only_suites(view: RunView, ids: frozenset[str]) -> RunView:
    """The part of a run that belongs to some of its suites."""
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
    return paths[0] if paths else None


def _place(artifact: Artifact, name: str, suffix: str, folder: Path, run_stamp: str) -> Path:
    if artifact.path:
        path = _inside(folder / run_stamp / name, artifact, name)
        write_whole(path, artifact.chunks)
        return path
    is_record = suffix.startswith("record.")
    path = folder / f"{'run' if is_record else 'eval-result'}-{run_stamp}.{suffix}"
    write_whole(path, artifact.chunks)
    if not is_record:
        write_whole(folder / f"eval-result.{suffix}", _chunks_of(path))
    return path


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
        path = _inside(beside, artifact, name) if artifact.path else place
        if path in written:
            raise PluginError(Problem("plugin.broken", f"reporter {name!r} wants to write {str(path)!r} twice"))
        write_whole(path, artifact.chunks)
        written[path] = None
    return next(iter(written), None)


def _inside(folder: Path, artifact: Artifact, name: str) -> Path:
    """Where a further file of a reporter goes in the reporter's folder."""
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
    """Where a report goes in a folder that has one for each run: named after the second in which the run began."""
    name = stamp(seconds)[:19] + "Z"
    numbers = ("" if number == 1 else f"-{number}" for number in count(1))
    return next(path for number in numbers if not (path := folder / f"{name}{number}.{suffix}").exists())
