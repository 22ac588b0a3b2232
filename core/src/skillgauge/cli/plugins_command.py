"""`plugins`: what is installed, healthy, and why not.

`plugins list` answers from the index alone, so nothing heavy is imported at the top.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..environment import ask_first
from ..errors import ExitCode, PluginError, Problem, did_you_mean
from ..plugins.index import IndexEntry, PluginIndex, install_hint, makers
from ..plugins.installed import read_index
from ..terminal.output import Output
from .groups import CommandsOfPlugins
from .options import GlobalsCommand

if TYPE_CHECKING:
    from ..plugins.registry import Registry

command = CommandsOfPlugins(
    "plugins",
    help="Show what is installed, and why something does not work.",
    known={"new": ("skillgauge-testkit", "Make the project of a new plugin.")},
)


@command.command(
    "list",
    cls=GlobalsCommand,
    examples=("skillgauge plugins list --kind engines",),
    help="List installed plugins; imports none of them.",
)
@click.option("--kind", metavar="KIND", help="Only this kind, for example scorers.")
@click.pass_context
def list_plugins(ctx: click.Context, kind: str | None) -> int:
    """List installed plugins."""
    if kind:
        from ..config.kind_names import plural_of  # noqa: PLC0415 - see the module docstring

        kind = plural_of(kind)
    index = read_index()
    output = Output(as_json=ctx.obj.as_json, quiet=ctx.obj.quiet)
    failures = index.recorded_failures()
    blocked = dict.fromkeys(index.meant_by(frozenset(ctx.obj.no_plugin)), "left out by --no-plugin")
    documents = [
        _document(entry, index, failure=failures.get(entry), blocked=blocked.get(entry))
        for entry in index.entries(kind)
    ]
    output.document(_documents(documents))
    output.table(_HEADS, list(map(_row, documents)))
    return ExitCode.OK


@command.command(
    "info",
    cls=GlobalsCommand,
    examples=("skillgauge plugins info scorers exact",),
    help="Show one plugin: where it comes from and which options it has.",
)
@click.argument("kind")
@click.argument("name")
@click.pass_context
def info(ctx: click.Context, kind: str, name: str) -> int:
    """Show one plugin."""
    from ..config.kind_names import COMMANDS, plural_of  # noqa: PLC0415 - see the module docstring
    from ..evaluation.invocation import invocation  # noqa: PLC0415

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
    if provider.traits.secrets:
        from ..evaluation.planned.needs import KeyNeed  # noqa: PLC0415 - see the module docstring

        ask_first(call.registry.events)
        call.output.line(KeyNeed.of("it", provider.traits).line)
    call.output.line(f"options: {json.dumps(document['options'], indent=2, ensure_ascii=False)}")
    return ExitCode.OK


@command.command(
    "doctor",
    cls=GlobalsCommand,
    help="Import every plugin in a process of its own and check it. Exit code 2: one is broken, or one that is named "
    "lacks a key, a program or a setting.",
    examples=("skillgauge plugins doctor", "skillgauge plugins doctor claude-code reporters/html"),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.pass_context
def doctor(ctx: click.Context, names: tuple[str, ...]) -> int:
    """Import every plugin in a process of its own and check it."""
    from ..evaluation.invocation import invocation  # noqa: PLC0415 - see the module docstring
    from .doctor import Finding, State, chosen, examined, verdict_of  # noqa: PLC0415 - see the module docstring

    call = invocation(ctx.obj)
    index = read_index()
    entries = _allowed(chosen(index.entries(), names), call.registry)
    findings, documents = [], []
    for entry, found in zip(entries, examined(entries, call.output, call.config.plugin_options()), strict=True):
        if found.state is State.BROKEN:
            index.record_failure(entry, found.reason or "")
        else:
            index.clear_failure(entry)
        clash = _clash(entry, index)
        finding = found
        if clash and not entry.problem:
            finding = Finding(State.BROKEN, clash)
        findings.append(finding)
        documents.append(_document(entry, index) | finding.told)
    code, verdict = verdict_of(findings, named=bool(names))
    call.output.document(_documents(documents))
    ranked = sorted(documents, key=lambda one: (bool(one["healthy"]), one["lacks"] is None))
    if not call.output.quiet:
        call.output.table(["State", *_HEADS], [[_state(one), *_row(one)] for one in ranked])
    call.output.verdict(verdict, code)
    return code


def _allowed(entries: Sequence[IndexEntry], registry: Registry) -> list[IndexEntry]:
    """Pass over what the user blocks: it is not imported.

    Raises:
        PluginError: nothing is left.
    """
    from ..plugins.blocking import blocked_problem  # noqa: PLC0415 - see the module docstring

    allowed = [entry for entry in entries if not registry.is_blocked(entry)]
    if entries and not allowed:
        raise PluginError([blocked_problem(f"{entry.kind}/{entry.name}", [entry]) for entry in entries])
    return allowed


def _command_info(name: str, output: Output) -> int:
    index = read_index()
    entries = index.find("commands", name)
    if not entries:
        names = [entry.name for entry in index.entries("commands")]
        message = f"no plugin brings the command {name!r}{did_you_mean(name, names)}"
        hint = install_hint("commands", name)
        raise PluginError(Problem("plugin.not-installed", message, hint=hint))
    document = _document(entries[0], index)
    keys = ("kind", "name", "distribution", "version", "summary")
    output.document({key: document[key] for key in keys} | {"traits": None, "options": None})
    output.line(f"{name} (commands): {document['summary']}")
    output.line(f"from {document['distribution']} {document['version']}")
    output.line(f"options: skillgauge {name} --help")
    return ExitCode.OK


def _clash(entry: IndexEntry, index: PluginIndex) -> str | None:
    others = [one for one in index.find(entry.kind, entry.name) if one.distribution != entry.distribution]
    if not others:
        return None
    return f"also in {makers(others)}: choose with {entry.distribution}:{entry.name}"


def _document(
    entry: IndexEntry, index: PluginIndex, *, failure: str | None = None, blocked: str | None = None
) -> dict[str, object]:
    """Describe an entry point, as `plugins_document.PluginDocument` has it.

    Args:
        entry: the entry point.
        index: all of them.
        failure: the last failure to load it.
        blocked: what keeps it out, if the user blocks it.
    """
    return {
        "kind": entry.kind,
        "name": entry.name,
        "distribution": entry.distribution,
        "version": entry.version,
        "summary": entry.summary,
        "module": entry.module,
        "core_range": entry.core_range,
        "problem": blocked or entry.problem or _clash(entry, index) or failure,
        "healthy": None,
        "lacks": None,
        "asks": None,
    }


_HEADS = ("Kind", "Name", "Distribution", "Summary or problem")


def _documents(documents: Sequence[dict[str, object]]) -> dict[str, object]:
    return {"schema_version": "1.2", "plugins": list(documents)}


def _row(document: dict[str, object]) -> list[str]:
    owner = f"{document['distribution']} {document['version']}"
    text = str(document["problem"] or document["lacks"] or document["summary"])
    asks = ""
    if document["asks"]:
        asks = f" ({document['asks']})"
    return [str(document["kind"]), str(document["name"]), owner, f"{text}{asks}"]


def _state(one: dict[str, object]) -> str:
    if one["lacks"]:
        return "lacks"
    if one["healthy"]:
        return "works"
    return "broken"
