"""`plugins`: what is installed, healthy, and why not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import click

from ..errors import ExitCode
from ..hooks import KINDS
from ..index import IndexEntry, PluginIndex, read_index
from ..types.frozen import Frozen
from .options import GlobalsCommand, GlobalsGroup, invocation

CHECK_TIMEOUT_S = 60

command = GlobalsGroup("plugins", help="Show what is installed, and why something does not work.")


class PluginDocument(Frozen):
    """One entry point, as `plugins list --json` and `plugins doctor --json` print it."""

    kind: str
    name: str
    distribution: str
    version: str
    summary: str
    module: str
    core_range: str | None
    problem: str | None
    """Why it is not used: another core version, a clash of names, the last recorded failure."""
    healthy: bool | None = None
    """Set by `doctor`."""


class PluginsDocument(Frozen):
    """The document of `plugins list --json` and `plugins doctor --json`."""

    schema_version: str = "1.0"
    plugins: tuple[PluginDocument, ...]


@command.command("list", cls=GlobalsCommand, help="List installed plugins; imports none of them.")
@click.option("--kind", metavar="KIND", help="Only this kind, for example scorers.")
@click.pass_context
def list_plugins(ctx: click.Context, kind: str | None) -> int:
    """List installed plugins."""
    index = read_index()
    _print(ctx, [_document(entry, index) for entry in index.entries(kind)])
    return ExitCode.OK


@command.command("info", cls=GlobalsCommand, help="Show one plugin: where it comes from and which options it has.")
@click.argument("kind")
@click.argument("name")
@click.pass_context
def info(ctx: click.Context, kind: str, name: str) -> int:
    """Show one plugin."""
    call = invocation(ctx.obj)
    resolved = call.registry.resolve(_plural(kind), name)
    provider = resolved.provider
    document = {
        "kind": resolved.kind,
        "name": resolved.name,
        "distribution": resolved.distribution,
        "version": resolved.version,
        "summary": provider.summary,
        "traits": provider.traits.model_dump(mode="json"),
        "options": provider.options.model_json_schema(),
    }
    call.output.document(document)
    call.output.line(f"{resolved.name} ({resolved.kind}): {provider.summary}")
    call.output.line(f"from {resolved.distribution} {resolved.version}")
    call.output.line(f"options: {json.dumps(document['options'], indent=2, ensure_ascii=False)}")
    return ExitCode.OK


@command.command("doctor", cls=GlobalsCommand, help="Import every plugin in a process of its own and check it.")
@click.pass_context
def doctor(ctx: click.Context) -> int:
    """Import every plugin in a process of its own and check it."""
    call = invocation(ctx.obj)
    index = read_index()
    entries = index.entries()
    with ThreadPoolExecutor(max_workers=4) as pool:
        reasons = list(pool.map(examine, entries))
    documents = []
    for entry, reason in zip(entries, reasons, strict=True):
        if reason:
            index.record_failure(entry, reason)
        else:
            index.clear_failure(entry)
        document = _document(entry, index)
        problem = document.problem if entry.problem or _clash(entry, index) else reason
        documents.append(document.model_copy(update={"healthy": problem is None, "problem": problem}))
    _print(ctx, documents)
    bad = [one for one in documents if not one.healthy]
    call.output.verdict(
        f"{len(bad)} of {len(documents)} plugins do not work" if bad else f"{len(documents)} plugins work"
    )
    return ExitCode.USAGE if bad else ExitCode.OK


def examine(entry: IndexEntry) -> str | None:
    """Why a plugin does not work, found by a process that may die of it; `None` if it works."""
    if entry.problem:
        return entry.problem
    words = [sys.executable, "-m", "skillgauge.cli.examination", entry.kind, f"{entry.distribution}:{entry.name}"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=CHECK_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"importing and checking it takes longer than {CHECK_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"its process ended with code {done.returncode}"


def _plural(kind: str) -> str:
    return next((plural for plural, (singular, _) in KINDS.items() if kind in (plural, singular)), kind)


def _clash(entry: IndexEntry, index: PluginIndex) -> str | None:
    others = [one for one in index.find(entry.kind, entry.name) if one.distribution != entry.distribution]
    if not others:
        return None
    owners = " and ".join(f"{one.distribution} {one.version}" for one in others)
    return f"also in {owners}: choose with {entry.distribution}:{entry.name}"


def _document(entry: IndexEntry, index: PluginIndex) -> PluginDocument:
    problem = entry.problem or _clash(entry, index) or index.recorded_failures().get(entry)
    return PluginDocument(
        kind=entry.kind,
        name=entry.name,
        distribution=entry.distribution,
        version=entry.version,
        summary=entry.summary,
        module=entry.module,
        core_range=entry.core_range,
        problem=problem,
    )


def _print(ctx: click.Context, documents: Sequence[PluginDocument]) -> None:
    from .output import Output  # noqa: PLC0415

    output = Output(as_json=ctx.obj.as_json, quiet=ctx.obj.quiet)
    output.document(PluginsDocument(plugins=tuple(documents)).model_dump(mode="json"))
    rows = [[one.kind, one.name, f"{one.distribution} {one.version}", one.problem or one.summary] for one in documents]
    output.table(["Kind", "Name", "Distribution", "Summary or problem"], rows)
