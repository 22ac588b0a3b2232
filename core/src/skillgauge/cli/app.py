"""The top-level command: lazy sub-commands, and the one place that turns errors into exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextvars import copy_context
from typing import TextIO

import click

from ..errors import ExitCode, Problem, SkillgaugeError
from ..plugins.installed import known
from ..terminal.output import print_problems
from ..terminal.streams import shown_streams
from .groups import CommandsOfPlugins, load_command
from .options import COMPLETE, before_names, wants_json

BUILT_IN = {
    "eval": ("skillgauge.cli.eval_command:command", "Evaluate skills and suites."),
    "validate": ("skillgauge.cli.validate_command:command", "Check suites without running anything."),
    "config": ("skillgauge.cli.config_command:command", "Show and change configuration."),
    "completion": ("skillgauge.cli.completion_command:command", "Complete commands and names in a shell."),
    "schema": ("skillgauge.cli.schema_command:command", "Print the JSON Schema of a document."),
    "plugins": ("skillgauge.cli.plugins_command:command", "Show what is installed, and why something does not work."),
}


class App(CommandsOfPlugins):
    """Knows its own commands by name; imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, built-in ones first."""
        return list(dict.fromkeys((*BUILT_IN, *super().list_commands(ctx))))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name in BUILT_IN:
            return load_command(BUILT_IN[cmd_name][0])
        return super().get_command(ctx, cmd_name)

    def summaries(self, ctx: click.Context) -> dict[str, str]:
        """Summary of each command, without importing any."""
        own = {name: summary for name, (_, summary) in BUILT_IN.items()}
        return super().summaries(ctx) | own


app = App(
    name="skillgauge",
    help="Find out whether a skill for AI agents works, whether it helps, by how much, and whether a change broke it.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; prints whatever has to be said."""
    with shown_streams(color="--no-color" not in before_names(arguments)):
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    as_json, stdout = wants_json(arguments), sys.stdout
    try:
        own = copy_context()  # whom a command asks for secrets ends with it, and so does what it knows of the installed
        own.run(known.set, {})
        result = own.run(app.main, list(arguments), prog_name="skillgauge", standalone_mode=False)
        if isinstance(result, int):
            return int(result)
        return ExitCode.OK
    except SkillgaugeError as error:
        print_problems(error.problems, error.exit_code, as_json=as_json)
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    except click.ClickException as error:
        print_problems([_usage_problem(error)], ExitCode.USAGE, as_json=as_json)
        return ExitCode.USAGE
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.OK  # whoever wanted the document has seen enough of it
    except BaseException as error:  # noqa: BLE001 - whatever a plugin or a fault of our own raises, exit 1 means a gate
        return _broken_off(error, stdout, as_json=as_json)


def _broken_off(error: BaseException, stdout: TextIO, *, as_json: bool) -> int:
    """Return the exit code after an exception that is no answer to the user; prints what is to be said of it.

    Args:
        error: the exception.
        stdout: as it was when the command began.
        as_json: whether the problem is a document.
    """
    if isinstance(error, SystemExit):
        if os.environ.get(COMPLETE):
            return int(error.code or 0)  # a shell has asked how a command line may go on, and click has answered
        if sys.stdout is not stdout:
            return ExitCode.OK  # whoever reads has seen enough: click ends so, with other streams in place of ours
    from ..terminal.internal_error import internal_error  # noqa: PLC0415 - needed when all else failed

    print_problems([internal_error(error)], ExitCode.INVALID_RUN, as_json=as_json)
    return ExitCode.INVALID_RUN


def _usage_problem(error: click.ClickException) -> Problem:
    hint = None
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"See `{error.ctx.command_path} --help`."
    return Problem("usage.arguments", error.format_message(), hint=hint)
