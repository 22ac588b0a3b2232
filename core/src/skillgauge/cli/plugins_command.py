"""`plugins`: what is installed, healthy, and why not.

`plugins list` answers from the index alone, so nothing heavy is imported at the top.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from ..errors import ExitCode, PluginError, Problem, did_you_mean
from ..plugins.index import IndexEntry, PluginIndex, install_hint, read_index
from .groups import CommandsOfPlugins
from .options import GlobalsCommand
from .output import Output

CHECK_TIMEOUT_S = 60

command = CommandsOfPlugins(
    "plugins",
    help="Show what is installed, and why something does not work.",
    known={"new": ("skillgauge-command-plugins-new", "Make the project of a new plugin.")},
)


@command.command("list", cls=GlobalsCommand, help="List installed plugins; imports none of them.")
@click.option("--kind", metavar="KIND", help="Only this kind, for example scorers.")
@click.pass_context
def list_plugins(ctx: click.Context, kind: str | None) -> int:
    """List installed plugins."""
    index = read_index()
    output = Output(as_json=ctx.obj.as_json, quiet=ctx.obj.quiet)
    _print(output, [_document(entry, index) for entry in index.entries(kind)])
    return ExitCode.OK


@command.command("info", cls=GlobalsCommand, help="Show one plugin: where it comes from and which options it has.")
@click.argument("kind")
@click.argument("name")
@click.pass_context
def info(ctx: click.Context, kind: str, name: str) -> int:
    """Show one plugin."""
    from .invocation import invocation  # noqa: PLC0415
    from .kind_names import COMMANDS, plural_of  # noqa: PLC0415 - see the module docstring

    call = invocation(ctx.obj)
    plural = plural_of(kind)
    if plural == COMMANDS:
        return _command_info(name, call.output)
    resolved = call.registry.resolve(plural, name)
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
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - see the module docstring

    from .invocation import invocation  # noqa: PLC0415 - see the module docstring

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
        problem = document["problem"] if entry.problem or _clash(entry, index) else reason
        documents.append(document | {"healthy": problem is None, "problem": problem})
    _print(call.output, documents)
    bad = [one for one in documents if not one["healthy"]]
    call.output.verdict(
        f"{len(bad)} of {len(documents)} plugins do not work" if bad else f"{len(documents)} plugins work"
    )
    return ExitCode.USAGE if bad else ExitCode.OK


def examine(entry: IndexEntry) -> str | None:
    """Why a plugin does not work, found by a process that may die of it; `None` if it works."""
    import subprocess  # noqa: PLC0415 - see the module docstring

    if entry.problem:
        return entry.problem
    asked = (entry.kind, f"{entry.distribution}:{entry.name}")
    words = [sys.executable, "-P", "-m", "skillgauge.cli.examination", *asked]  # -P: nothing of the current folder
    try:
        done = subprocess.run(words, capture_output=True, timeout=CHECK_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"importing and checking it takes longer than {CHECK_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"its process ended with code {done.returncode}"


def _command_info(name: str, output: Output) -> int:
    index = read_index()
    entries = index.find("commands", name)
    if not entries:
        names = [entry.name for entry in index.entries("commands")]
        message = f"no plugin brings the command {name!r}{did_you_mean(name, names)}"
        hint = install_hint("commands", name)
        raise PluginError(Problem("plugin.not-installed", message, hint=hint))
    document = _document(entries[0], index)
    told = ("kind", "name", "distribution", "version", "summary")
    output.document({key: document[key] for key in told} | {"traits": None, "options": None})
    output.line(f"{name} (commands): {document['summary']}")
    output.line(f"from {document['distribution']} {document['version']}")
    output.line(f"options: skillgauge {name} --help")
    return ExitCode.OK


def _clash(entry: IndexEntry, index: PluginIndex) -> str | None:
    others = [one for one in index.find(entry.kind, entry.name) if one.distribution != entry.distribution]
    if not others:
        return None
    owners = " and ".join(f"{one.distribution} {one.version}" for one in others)
    return f"also in {owners}: choose with {entry.distribution}:{entry.name}"


def _document(entry: IndexEntry, index: PluginIndex) -> dict[str, object]:
    """One entry point, as `plugins_document.PluginDocument` has it."""
    return {
        "kind": entry.kind,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "summary": entry.summary,
        "module": entry.module,
        "core_range": entry.core_range,
        "problem": entry.problem or _clash(entry, index) or index.recorded_failures().get(entry),
        "healthy": None,
    }


def _print(output: Output, documents: Sequence[dict[str, object]]) -> None:
    output.document({"schema_version": "1.0", "plugins": list(documents)})
    rows = []
    for one in documents:
        owner = f"{one['distribution']} {one['version']}"
        rows.append([str(one["kind"]), str(one["name"]), owner, str(one["problem"] or one["summary"])])
    output.table(["Kind", "Name", "Distribution", "Summary or problem"], rows)
