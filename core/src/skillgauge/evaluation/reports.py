"""Which reports a run gets, and who writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..config.configuration import Config
from ..contract.reporters import Reporter
from ..errors import PluginError
from ..plan.preparing import Prepared
from ..plugins.kinds import REPORTERS
from ..plugins.registry import Registry
from ..types.result import RunView
from ..types.suite import DIRECT
from .invocation import Invocation

AGENT_FORMATS = ("html",)
"""Reporters that are used beside the default ones for suites with agents, whose sessions somebody wants to read."""


@dataclass(frozen=True)
class Reports:
    """What is written of it, and where."""

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


def with_agent_formats(options: Reports, prepared: Prepared, config: Config) -> Reports:
    """The reports of a run; more than the default ones if agents take part and nobody chose."""
    has_agents = any(arm != DIRECT.name for suite in prepared.plan.head.suites for arm in suite.arms)
    if not has_agents or not options.optional or config.is_set("defaultFormats"):
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
    for suite in prepared.plan.head.suites:
        if suite.document and (options.own or (suite.report_folder and options.by_suites)):
            call.registry.resolve("reporters", suite.document)
    if options.own and not any(suite.document for suite in prepared.plan.head.suites):
        call.listener.notice("--format json writes nothing: these suites have no document of their own")
    if missing:
        call.listener.notice(f"not installed, so not written: {', '.join(missing)} (reporters)")
    return by_name


def own_documents(view: RunView, registry: Registry, options: Reports) -> dict[str, Callable[[], Path | None]]:
    """What writes the documents of the suites' own formats; each format gets its part of the run."""
    from .writing import free_place, only_suites, write_at, write_report  # noqa: PLC0415 - a dry run writes none

    by_document: dict[str, set[str]] = {}
    placed: dict[str, tuple[str, Path]] = {}
    for suite in view.head.suites:
        if suite.document and suite.report_folder and options.file is None and not options.folder_given:
            placed[suite.id] = suite.document, Path(suite.report_folder)
        elif suite.document and (options.own or suite.report_folder):
            by_document.setdefault(suite.document, set()).add(suite.id)

    def write_placed(suite_id: str, name: str, folder: Path) -> Path | None:
        reporter = registry.make(REPORTERS, name)
        place = free_place(folder, view.run.started_at, reporter.suffix)
        return write_at(only_suites(view, frozenset({suite_id})), name, reporter, place)

    def write(name: str, ids: frozenset[str]) -> Path | None:
        reporter = registry.make(REPORTERS, name)
        part = only_suites(view, ids)
        if options.file is None:
            suffix = reporter.suffix if len(by_document) == 1 else f"{name}.{reporter.suffix}"
            return write_report(part, name, reporter, options.folder, suffix=suffix)
        place = options.file if len(by_document) == 1 else options.file / f"{name}.{reporter.suffix}"
        return write_at(part, name, reporter, place)

    alone = len({name for name, _ in placed.values()}) == len(placed)
    writers: dict[str, Callable[[], Path | None]] = {
        name: partial(write, name, frozenset(ids)) for name, ids in by_document.items()
    }
    for suite_id, (name, folder) in placed.items():
        writers[name if alone else f"{name} of {suite_id}"] = partial(write_placed, suite_id, name, folder)
    return writers
