"""`engines probe`: an agent program on a scripted local model, and the configuration that describes it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import click

from skillgauge.api import ExitCode, JsonObject, Problem, UsageError
from skillgauge.api.run import GlobalsGroup, invocation

_LIMIT_S = 120.0
command = GlobalsGroup("engines", help="Agent programs that have no engine of their own.")


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    from .documents import ProbeDocument  # noqa: PLC0415 - `--help` needs none of it

    return {"engines-probe": ProbeDocument.model_json_schema()}


@command.command(
    "probe",
    examples=(
        "skillgauge engines probe -- my-agent --acp",
        "skillgauge engines probe -- my-agent --json {prompt}",
        "skillgauge engines probe --env MY_SERVER={address} -- my-agent --acp",
    ),
    help="Try an agent program on a scripted local model, without a key, and print how to describe it.",
)
@click.argument("argv", nargs=-1, required=True, metavar="-- PROGRAM [ARGUMENT]...")
@click.option(
    "--env",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variable that the program sees; {address}, {model}, {home} and {workspace} are filled in.",
)
@click.option(
    "--home",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Begin its home with a copy of this folder.",
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.FloatRange(1, 600),
    default=_LIMIT_S,
    show_default=True,
    help="Time for all of it.",
)
@click.pass_context
def probe_(
    ctx: click.Context, *, argv: tuple[str, ...], given: tuple[str, ...], home: Path | None, limit: float
) -> int:
    """Try an agent program."""
    from .documents import ProbeDocument  # noqa: PLC0415 - `--help` needs none of it
    from .probe import probe  # noqa: PLC0415 - as above
    from .program import ProbeError  # noqa: PLC0415 - as above

    call = invocation(ctx.obj)
    env = dict(_pair(word) for word in given)
    try:
        findings = asyncio.run(asyncio.to_thread(probe, argv, env, home, limit))
    except ProbeError as error:
        hint = "Name a program of your PATH, or one by its path."
        raise UsageError(Problem("engines.program", f"{argv[0]!r}: {error}", hint=hint)) from error
    document = ProbeDocument.of(findings)
    call.output.document(document.model_dump(mode="json"))
    for line in (*findings.lines(), "", *document.configuration.splitlines(), ""):
        call.output.line(line)
    call.output.verdict(
        "what could be seen is in the configuration above; what is not there is unknown"
        if findings.answers
        else "no session came to its end, so most is unknown: tell the program of the local model with --env or --home"
    )
    return ExitCode.OK if findings.answers else ExitCode.INVALID_RUN


def _pair(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not name or not sign:
        raise UsageError(Problem("engines.env", f"{word!r} is no NAME=VALUE", hint="Write --env NAME=VALUE."))
    return name, value
