"""`watch`: evaluate again whatever is affected when files change, until Ctrl-C."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from skillgauge.api import ExitCode, Problem, UsageError
from skillgauge.api.report import counted
from skillgauge.api.run import EvaluationCommand, Invocation, configured, invocation

_WORDS = "skillgauge_command_watch.words"
_ONCE = frozenset({"listed", "dry_run", "confirm", "last_failed", "changed", "open_report", "view"})
"""Options of `eval` that choose otherwise, or that nobody wants after every change."""
_SHOWN = 3
"""Files that are named of those that changed."""
_STUBBORN = 3
"""After so many runs in each of which a file changed, the runs are what changes it."""


class WatchCommand(EvaluationCommand):
    """Takes what `eval` takes."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then those of `eval`."""
        own = super().get_params(ctx)
        root = ctx.find_root()
        evaluating = root.command.get_command(root, "eval") if isinstance(root.command, click.Group) else None
        names = {param.name for param in own} | _ONCE
        return [*own, *(param for param in (evaluating.params if evaluating else ()) if param.name not in names)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they are typed: each run gets them."""
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)


def _watch(**values: Any) -> int:
    from .rounds import run  # noqa: PLC0415 - `--help` needs none of it

    context = click.get_current_context()
    call = invocation(context.obj, configured(values))
    words: tuple[str, ...] = context.meta[_WORDS]
    before = _before(context, words)
    _require_rounds(call, (*before, *words))
    sources = _sources(call, values, (*before, *words))
    count, stubborn = 0, 0
    during: set[str] = set()
    try:
        while True:
            count += 1
            code = run([*before, "eval", "--changed", *words])
            if code == ExitCode.INTERRUPTED:
                return code
            paths = sources.pending()
            stubborn = stubborn + 1 if paths and (not during or paths <= during) else int(bool(paths))
            during = paths
            if paths and stubborn >= _STUBBORN:
                call.output.notice(f"{_named(paths)} changes whenever cases run: a change of yours runs them again")
                paths = set()
            call.output.notice(f"watching {sources.told}; Ctrl-C ends it")
            call.output.notice(f"changed: {_named(paths or sources.wait())}")
    except KeyboardInterrupt:
        call.output.verdict(f"done: watched, {counted(count, 'run')}", ExitCode.OK)
        return ExitCode.OK


def _require_rounds(call: Invocation, words: tuple[str, ...]) -> None:
    """Refuse what cannot be said or known of several runs.

    Raises:
        UsageError: one document is asked for, a file is to be trusted whatever it will say, nothing is stored that the
            next run could be compared with, or the system has no process groups.
    """
    problems = []
    if os.name == "nt":
        problems.append(
            Problem("watch.system", "watch needs process groups of Linux or macOS", hint="Use eval --changed.")
        )
    if call.output.as_json:
        hint = "Leave it out, or use --log-json: events on stderr, one JSON object a line."
        problems.append(Problem("usage.exclusive", "--json is one document, and watch has one of every run", hint=hint))
    if "--trust-config" in words:
        # A skill may write beside itself: the configuration of the next round would be its own, and be trusted.
        hint = "Look at the file, then `skillgauge config trust`: that trusts it as it is now."
        message = "--trust-config is for one command, and watch begins another whenever the file changes"
        problems.append(Problem("watch.trust", message, hint=hint))
    if call.config.get("store") == "none":
        hint = "Leave out --store none, or the key `store` of the configuration."
        problems.append(Problem("usage.exclusive", "without a store nobody knows which cases are affected", hint=hint))
    if problems:
        raise UsageError(problems)


def _before(context: click.Context, words: tuple[str, ...]) -> tuple[str, ...]:
    """The options before the command's name."""
    place = len(sys.argv) - len(words) - 1
    return tuple(sys.argv[1:place]) if place > 0 and sys.argv[place] == context.info_name else ()


def _sources(call: Invocation, values: Mapping[str, Any], words: tuple[str, ...]) -> Any:
    from .sources import Sources, places  # noqa: PLC0415 - `--help` needs none of it

    store = str(call.config.get("store"))
    files = [call.config.get("outputDir"), values.get("record"), values.get("output_file")]
    files += [f"{store}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    left_out = frozenset(call.cwd / str(one) for one in files if one)
    return Sources(*places(call, values["paths"], words, left_out), left_out, call.cwd)


def _named(files: set[str]) -> str:
    names = sorted(files)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


command = WatchCommand(
    "watch",
    params=[click.Argument(["paths"], nargs=-1, metavar="[PATH|CASE]...")],
    callback=_watch,
    help="Run the affected cases again whenever a file changes that they depend on, until Ctrl-C.",
    examples=(
        "skillgauge watch my-skill --engine mock",
        "skillgauge watch my-skill --engine claude-code --no-baseline --max-cost 1",
    ),
)
