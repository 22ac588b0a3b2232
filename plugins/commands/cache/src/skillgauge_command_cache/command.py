"""`cache`: sessions that later runs use again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import (
    EvaluationCommand,
    GlobalsGroup,
    Invocation,
    cache_folder,
    configured,
    evaluation_options,
    invocation,
)

command = GlobalsGroup("cache", help="Sessions without the skill that later runs use again.")

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = 7


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import ListDocument, RemovedDocument, WhyDocument  # noqa: PLC0415 - `--help` needs none of it

    return {
        "cache-list": ListDocument.model_json_schema(),
        "cache-gc": RemovedDocument.model_json_schema(),
        "cache-explain": WhyDocument.model_json_schema(),
    }


def _age(ctx: click.Context, param: click.Parameter, value: str) -> timedelta:
    """A span of time: 90m, 12h, 30d, 2w."""
    if value[:-1].isdigit() and value[-1:] in _UNITS and len(value) < _LONGEST:
        return timedelta(**{_UNITS[value[-1]]: int(value[:-1])})
    raise click.BadParameter(f"{value!r} is no span of time: 12h, 30d or 2w, for example", ctx, param)


@command.command("list", examples=("skillgauge cache list",), help="Show every entry.")
@click.pass_context
def list_(ctx: click.Context) -> int:
    """Show every entry."""
    from .documents import listed  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    document = listed(_folder(call), time.time())
    call.output.document(document.model_dump(mode="json"))
    for entry in document.entries:
        call.output.line(entry.line())
    damaged = sum(entry.damaged for entry in document.entries)
    damage = f", {damaged} of them damaged and never used" if damaged else ""
    call.output.verdict(f"{len(document.entries)} sessions in {document.folder}{damage}")
    return ExitCode.OK


@command.command(
    "gc", examples=("skillgauge cache gc --older-than 2w",), help="Remove entries that are old or damaged."
)
@click.option("--older-than", callback=_age, default="30d", show_default=True, metavar="AGE", help="12h, 30d, 2w.")
@click.option("--all", "everything", is_flag=True, help="Remove every entry.")
@click.pass_context
def gc(ctx: click.Context, *, older_than: timedelta, everything: bool) -> int:
    """Remove entries that are old or damaged."""
    from .documents import removed  # noqa: PLC0415 - `--help` needs none of it

    call = invocation(ctx.obj)
    oldest = float("inf") if everything else time.time() - older_than.total_seconds()
    document = removed(_folder(call), oldest)
    call.output.document(document.model_dump(mode="json"))
    call.output.verdict(f"removed {document.removed} sessions, kept {document.kept}")
    return ExitCode.OK


def _explain(**values: Any) -> int:
    call = invocation(click.get_current_context().obj, configured(values))
    return asyncio.run(_why(call, values))


async def _why(call: Invocation, values: Mapping[str, Any]) -> int:
    from .documents import explained  # noqa: PLC0415 - `--help` needs none of it

    document = await explained(call, values, _folder(call))
    call.output.document(document.model_dump(mode="json"))
    for session in document.sessions:
        call.output.line(session.line())
    used = sum(session.used for session in document.sessions)
    call.output.verdict(f"{used} of {len(document.sessions)} sessions without the skill are answered by earlier ones")
    return ExitCode.OK


def _folder(call: Invocation) -> Path:
    folder = cache_folder(call)
    if folder is None:
        hint = "Name a folder with the key cacheDir."
        raise UsageError(Problem("cache.none", "there is no home, so there is no cache", hint=hint))
    return folder


command.add_command(
    EvaluationCommand(
        "explain",
        params=[click.Argument(["paths"], nargs=-1, metavar="[PATH]..."), *evaluation_options()],
        callback=_explain,
        examples=("skillgauge cache explain my-skill",),
        help="Say of each session without the skill whether an earlier one is used, and if not, why.",
    )
)
