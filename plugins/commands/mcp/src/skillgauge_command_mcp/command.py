"""`mcp`: serve agents over stdio, until they close the connection."""

from __future__ import annotations

import math
import os
from pathlib import Path

import click

from skillgauge.api import ExitCode, Problem, UsageError
from skillgauge.api.run import GlobalsCommand, invocation


@click.command(
    "mcp",
    cls=GlobalsCommand,
    examples=(
        "skillgauge mcp skills",
        "skillgauge mcp skills --allow-runs --max-cost 2",
        "claude mcp add evals -- skillgauge mcp skills",
    ),
    help="Serve an agent over stdio by the Model Context Protocol: it lists, checks and drafts evals, plans runs and "
    "reads results of what lies in the folders; default: the current one. It runs nothing unless --allow-runs says so.",
    short_help="Serve agents over the Model Context Protocol.",
)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
@click.option("--allow-runs", is_flag=True, help="Let agents run evals; needs --max-cost.")
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="All runs together cost no more than this.",
)
@click.pass_context
def command(ctx: click.Context, /, folders: tuple[str, ...], *, allow_runs: bool, max_cost: float | None) -> int:
    """Serve until the other side closes stdin."""
    call = invocation(ctx.obj)
    roots = tuple((call.cwd / folder).resolve() for folder in folders or (".",))
    _require(ctx, roots, max_cost, allow_runs=allow_runs)
    from .program import Program  # noqa: PLC0415 - `--help` needs none of it
    from .runs import Budget  # noqa: PLC0415 - as above
    from .server import serve  # noqa: PLC0415 - as above
    from .workplace import Workplace  # noqa: PLC0415 - as above

    program = Program(call.cwd, _globals(ctx))
    serve(Workplace(roots, call.cwd), program, Budget(max_cost) if allow_runs and max_cost else None)
    return ExitCode.OK


def _require(ctx: click.Context, roots: tuple[Path, ...], max_cost: float | None, *, allow_runs: bool) -> None:
    """Refuse what cannot be served.

    Raises:
        UsageError: with everything that is wrong.
    """
    problems = [
        Problem("mcp.no-folder", f"there is no folder {str(root)!r}", hint="Name folders that hold skills or suites.")
        for root in roots
        if not root.is_dir()
    ]
    if allow_runs and (max_cost is None or math.isnan(max_cost)):
        hint = "Say what all runs together may cost: --allow-runs --max-cost 2."
        problems.append(Problem("usage.max-cost", "--allow-runs needs --max-cost", hint=hint))
    if max_cost is not None and not allow_runs:
        problems.append(Problem("usage.max-cost", "--max-cost needs --allow-runs", hint="Without it nothing runs."))
    if ctx.obj.trust_config:
        # An agent may write into the folder: the configuration of the next command would be its own, and be trusted.
        hint = "Look at the file, then `skillgauge config trust`: that trusts it as it is now."
        problems.append(Problem("mcp.trust", "--trust-config is for one command, and a server begins many", hint=hint))
    if ctx.obj.as_json:
        problems.append(Problem("usage.exclusive", "stdout belongs to the protocol", hint="Leave out --json."))
    if os.name == "nt":
        problems.append(Problem("mcp.system", "mcp needs process groups of Linux or macOS", hint="Use WSL."))
    UsageError.raise_for(problems)


def _globals(ctx: click.Context) -> tuple[str, ...]:
    """Return the global options that every command of the server gets, too."""
    options = ctx.obj
    words = [f"--config={options.config}"] if options.config else []
    words += [f"--no-plugin={name}" for name in options.no_plugin]
    words += [f"--plugin={name}" for name in options.plugin]
    words += [f"--set={assignment}" for assignment in options.assign]
    return tuple(words)
