"""Options that every command has, options that take several words, and the context they fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from .._version import __version__
from ..config.global_options import Globals
from ..errors import did_you_mean

if TYPE_CHECKING:
    from ..plugins.index import IndexEntry

COMPLETE = "_SKILLGAUGE_COMPLETE"
"""The variable by which a shell asks what a command line may go on with."""
AROUND = "--around"
"""The option of `validate` after which every word is the name of a file."""
_END = "--"
COMMAND_ENTRY = "skillgauge.command"
"""Where a context keeps the plugin that the command comes from."""


def _version_option() -> click.Option:
    """`--version`, which prints it and ends."""

    def show(ctx: click.Context, _param: click.Parameter, value: object) -> None:
        if value:
            click.echo(f"skillgauge {__version__}")
            ctx.exit()

    return click.Option(
        ["--version", "-V"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=show,
        help="Show the version and end.",
    )


def _global_options() -> list[click.Option]:
    return [
        click.Option(["-c", "--config"], metavar="PATH", help="Configuration file instead of the one found here."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document on stdout."),
        click.Option(["--no-color"], is_flag=True, help="No colours."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Tell every step of every trial, on stderr."),
        click.Option(["--log-json"], is_flag=True, help="Events on stderr, one JSON object a line, for programs."),
        click.Option(["--quiet"], is_flag=True, help="Print only the verdict and errors."),
        click.Option(
            ["--no-plugin"],
            metavar="NAME",
            multiple=True,
            is_eager=True,  # so that the help which is asked for after it leaves commands out
            help="Disable a plugin or a distribution.",
        ),
        click.Option(["--plugin"], metavar="FILE", multiple=True, help="Use a plugin from a Python file."),
        click.Option(["--trust-config"], is_flag=True, help="Trust the configuration file found here, this once."),
        click.Option(
            ["--set", "assign"], metavar="KEY=VALUE", multiple=True, help="Set an option: <kind>.<name>.<key>=VALUE."
        ),
        _version_option(),
    ]


GLOBAL_NAMES = tuple(Globals.__dataclass_fields__)


class SeveralWords(click.Option):
    """An option that takes all words up to the next option.

    Args:
        names: as for click's own options.
        metavar: as for click's own options.
        text: its help.
        stops_at: tells for a word whether the list ends before it; later words are then positional.
        completes: as click's `shell_complete`.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        metavar: str,
        text: str,
        stops_at: Callable[[str], bool] | None = None,
        completes: Callable[[click.Context, click.Parameter, str], list[str]] | None = None,
    ) -> None:
        super().__init__(names, multiple=True, metavar=metavar, help=text, shell_complete=completes)
        self.stops_at = stops_at


def expand(arguments: Sequence[str], options: Sequence[SeveralWords]) -> list[str]:
    """Write `--flag a b` as `--flag a --flag b`, which is what click understands."""
    flags = {flag: option for option in options for flag in option.opts}
    expanded: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        expanded.append(word)
        if word == "--":
            return expanded + rest
        option = flags.get(word)
        if option is None or not rest:
            continue
        expanded.append(rest.pop(0))
        while rest and not _ends(rest[0], option):
            expanded += [word, rest.pop(0)]
    return expanded


def _ends(word: str, option: SeveralWords) -> bool:
    return (word.startswith("-") and word != "-") or (option.stops_at is not None and option.stops_at(word))


class _TakesGlobals(click.Command):
    """A command or group that takes the global options too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(_global_options())
        self.context_settings.setdefault("help_option_names", ["-h", "--help"])

    def invoke(self, ctx: click.Context) -> Any:
        """Collect the global options into the context, then run."""
        collect_globals(ctx)
        return super().invoke(ctx)


class GlobalsCommand(_TakesGlobals):
    """A command that takes the global options too.

    Args:
        *args: as for click's own commands.
        examples: command lines that its help shows.
        **kwargs: as for click's own commands.
    """

    sections: Mapping[str, Sequence[str]] = {}
    """Names of options by the title that they stand under in its help."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Expand several words, then let click parse."""
        several = [param for param in self.get_params(ctx) if isinstance(param, SeveralWords)]
        return super().parse_args(ctx, expand(_without_all(ctx, args), several))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their titles; then its other ones, then those of every command."""
        write_options(self.get_params(ctx), self.sections, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, and what else there is to say."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{' ' * formatter.current_indent}{line}\n" for line in self.examples))
        super().format_epilog(ctx, formatter)


def _without_all(ctx: click.Context, args: list[str]) -> list[str]:
    """Take `--all` out of the words of a command that is asked for its help, and note in the context that it was there.

    Click ends at `--help`, so that it would never come to an option behind it. A command with an option `--all` of its
    own is not run then, either.
    """
    if _ALL not in args or not {*args} & {*ctx.help_option_names}:
        return args
    ctx.meta[_ALL] = True
    return [word for word in args if word != _ALL]


def write_options(
    params: Sequence[click.Parameter],
    sections: Mapping[str, Sequence[str]],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    """Write the options of a command under titles; those that few need only if help is asked for with `--all`.

    Args:
        params: all its parameters.
        sections: names of options by title.
        ctx: the command's.
        formatter: where they are written.
    """
    grouped = _grouped(params, sections, ctx)
    few_need = _FEW_NEED
    if ctx.parent is None or _ALL in ctx.meta:
        few_need = {}
    for title, records in grouped.items():
        if title not in few_need:
            with formatter.section(title):
                formatter.write_dl(records)
    hidden = [words for title, words in few_need.items() if title in grouped]
    if hidden:
        formatter.write_paragraph()
        formatter.write_text(f"{ctx.command_path} --help --all also lists {' and '.join(hidden)}.")


def _grouped(
    params: Sequence[click.Parameter], sections: Mapping[str, Sequence[str]], ctx: click.Context
) -> dict[str, list[tuple[str, str]]]:
    """The options of a command with their help, by title; titles without options are left out."""
    titles = dict.fromkeys(_NAMES_EVERYWHERE, _EVERYWHERE)
    titles |= {name: title for title, names in sections.items() for name in names}
    grouped: dict[str, list[tuple[str, str]]] = {title: [] for title in (*sections, "Options", _EVERYWHERE)}
    for param in params:
        record = None
        if not isinstance(param, click.Argument):
            record = param.get_help_record(ctx)
        if record is not None:
            grouped[titles.get(str(param.name), "Options")].append(record)
    return {title: records for title, records in grouped.items() if records}


_ALL = "--all"
_EVERYWHERE = "On every command"
_NAMES_EVERYWHERE = {*GLOBAL_NAMES, "version", "help"} - {"untrusted"}
OF_FORMATS = "Format-specific options"
_FEW_NEED = {OF_FORMATS: "the options of single formats", _EVERYWHERE: "the options that every command has"}


class GlobalsGroup(_TakesGlobals, click.Group):
    """A group that takes the global options too and hands them on."""

    command_class = GlobalsCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what is about the group's own help from its words: those before the name of a command."""
        own = list(takewhile(lambda word: word.startswith("-"), args))
        return super().parse_args(ctx, [*_without_all(ctx, own), *args[len(own) :]])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; a word that is none gets the names that are near."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            commands = self.list_commands(ctx)
            near = did_you_mean(error.command_name, commands) or self._inside_a_group(ctx, error.command_name)
            message = f"there is no command {error.command_name!r}{near}"
            if args[1:] and args[1] in commands:  # of a program that has its commands in other groups
                import shlex  # noqa: PLC0415 - only for whoever has erred

                message += f"; here it is: {shlex.join([ctx.command_path, *args[1:]])}"
            raise click.UsageError(message, ctx) from None

    def _inside_a_group(self, ctx: click.Context, name: str) -> str:
        """Name the commands of groups that are called so, as a phrase to append to a message; empty without any."""
        places = []
        for each in self.list_commands(ctx):
            with suppress(click.UsageError):  # of a plugin that cannot be loaded, which is another matter
                group = self.get_command(ctx, each)
                if isinstance(group, click.Group) and name in group.commands:
                    places.append(f"{each} {name}")
        if not places:
            return ""
        return f" (did you mean {' or '.join(places)}?)"

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of every command, and the commands."""
        write_options(self.get_params(ctx), {}, ctx, formatter)
        self.format_commands(ctx, formatter)


def globals_of(ctx: click.Context) -> Globals:
    """Return the global options that were given so far."""
    return ctx.find_object(Globals) or Globals()


def collect_globals(ctx: click.Context) -> None:
    """Move the global options from a context's parameters into its object."""
    values = {name: ctx.params.pop(name) for name in GLOBAL_NAMES if name in ctx.params and name != "untrusted"}
    if ctx.params.get("untrusted"):
        values["untrusted"] = True
    ctx.obj = globals_of(ctx).merged(values)
    entry: IndexEntry | None = ctx.meta.get(COMMAND_ENTRY)
    if entry is not None:
        require_allowed(entry, ctx.obj, ctx)


def require_allowed(entry: IndexEntry, options: Globals, ctx: click.Context) -> None:
    """Refuse a command of a plugin that the user blocks, before it is loaded.

    Raises:
        click.UsageError: the user blocks it.
    """
    from ..evaluation.invocation import blocked_by_configuration  # noqa: PLC0415 - it needs this module
    from ..plugins.installed import read_index  # noqa: PLC0415 - only commands of plugins are asked about

    index = read_index()
    for how, names in (
        ("--no-plugin", frozenset(options.no_plugin)),
        ("plugins.block", blocked_by_configuration(options, index)),
    ):
        if entry in index.meant_by(names):
            raise click.UsageError(f"the command {entry.name!r} of {entry.distribution} is left out by {how}", ctx)


def completing(kind: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Completes names of installed plugins of a kind in a shell, also behind a comma."""

    def names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        from ..plugins.installed import read_index  # noqa: PLC0415 - only while a shell completes

        before, comma, part = incomplete.rpartition(",")
        names = sorted({entry.name for entry in read_index().entries(kind)})
        return [f"{before}{comma}{name}" for name in names if name.startswith(part)]

    return names


def names_apart(arguments: Sequence[str]) -> list[str]:
    """Write `--around A B` as `--around -- A B`: every word after it is the name of a file, however it begins."""
    before = before_names(arguments)
    rest = list(arguments[len(before) :])
    if not rest or _END in rest[:2]:
        return list(arguments)
    return [*before, rest[0], _END, *rest[1:]]


def before_names(arguments: Sequence[str]) -> list[str]:
    """Return the words among which options may stand: those before `--` and before `--around`."""
    return list(takewhile(lambda word: word not in (_END, AROUND), arguments))


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether errors must be printed as JSON, before anything is parsed."""
    return "--json" in before_names(arguments)
