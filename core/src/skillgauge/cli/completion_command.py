"""`completion`: the script that completes commands, options and names of plugins in a shell, and where it belongs."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from ..config.whole_files import write_whole
from ..environment import host_environment
from ..errors import ExitCode, Problem, UsageError
from ..terminal.output import Output
from .options import COMPLETE, GlobalsCommand

_PLACES = {
    "bash": ".local/share/bash-completion/completions/skillgauge",
    "fish": ".config/fish/completions/skillgauge.fish",
    "zsh": ".local/share/zsh/site-functions/_skillgauge",
}
"""Where each shell looks for such scripts, below the home folder."""


@click.command(
    "completion",
    cls=GlobalsCommand,
    help="Print the script that completes commands, options and names of installed plugins, or install it.",
    examples=("skillgauge completion --install", 'eval "$(skillgauge completion bash)"'),
)
@click.argument("shell", required=False, type=click.Choice(sorted(_PLACES)))
@click.option("--install", is_flag=True, help="Write it to where the shell looks for such scripts.")
@click.pass_context
def command(ctx: click.Context, shell: str | None, *, install: bool) -> int:
    """Print the script, or install it."""
    environ = host_environment()
    shell = shell or Path(environ.get("SHELL", "")).name
    maker = None
    if shell in _PLACES:
        maker = get_completion_class(shell)
    if maker is None:
        message = f"SHELL names none of {', '.join(sorted(_PLACES))}, so the shell has to be named"
        raise UsageError(Problem("usage.shell", message, hint="skillgauge completion bash --install"))
    output = Output(as_json=ctx.obj.as_json, quiet=ctx.obj.quiet)
    script = maker(ctx.find_root().command, {}, "skillgauge", COMPLETE).source()
    if not install:
        output.document({"shell": shell, "file": None, "script": script})
        output.line(script)
        return ExitCode.OK
    place = Path(environ.get("HOME", "~")).expanduser() / _PLACES[shell]
    output.document({"shell": shell, "file": str(place), "script": script})
    write_whole(place, [script.encode()])
    output.line(f"{shell} completes skillgauge from its next start on: {place}")
    if shell == "zsh":
        output.notice(f"Add to ~/.zshrc, before compinit: fpath=({place.parent} $fpath)")
    return ExitCode.OK
