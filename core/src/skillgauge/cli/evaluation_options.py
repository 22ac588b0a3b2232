"""The options of commands that evaluate: what they are called, how help shows them, and which are configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click

from ..config.arguments import OPTIONS, OWN_DOCUMENT, Detect, declared, words
from ..config.option import Group, Kind, Option
from ..errors import UsageError
from ..evaluation.options import FormatField, FormatOptions, runs_of
from .options import OF_FORMATS, GlobalsCommand, SeveralWords, completing, write_options

SECTIONS: Mapping[str, tuple[str, ...]] = {
    title: tuple(option.value_name for option in titled) for title, titled in OPTIONS.items()
}
"""Under which title help shows an option, by the option's name; commands show the titles of those that they have."""


class EvaluationCommand(GlobalsCommand):
    """A command that evaluates: to its own options come those of installed formats, for loading suites."""

    sections = SECTIONS

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then those of the formats that are installed now."""
        return [*super().get_params(ctx), *options_beside(self.params)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options that formats add in a section of their own."""
        brought = tuple(str(option.name) for option in options_beside(self.params))
        sections = {**self.sections, "Options": (), OF_FORMATS: brought}
        write_options(self.get_params(ctx), sections, ctx, formatter)


def _is_no_reporter(word: str) -> bool:
    from ..plugins.index import install_hint  # noqa: PLC0415 - only if `--format` has several words
    from ..plugins.installed import read_index  # noqa: PLC0415 - only if `--format` has several words

    def is_reporter(name: str) -> bool:  # one that is absent is told with what installs it
        return bool(read_index().find("reporters", name)) or install_hint("reporters", name).startswith("pip")

    return word != OWN_DOCUMENT and not all(map(is_reporter, words([word])))


def evaluation_options() -> list[click.Parameter]:
    """The options of a command that evaluates, beside what to evaluate and which gates there are."""
    return [click_option(option) for option in declared(Group.EVALUATING)]


def foresight_options() -> list[click.Parameter]:
    """The options of a command that runs nothing and tells which gates on lifts its suites could never answer."""
    return [click_option(option) for option in declared() if option.is_foreseen]


def click_option(option: Option) -> click.Option:
    """Return an option of the table as click knows it."""
    names = [*option.flags.split(), option.value_name]
    completes = None
    if option.completes:
        completes = completing(option.completes)
    match option.kind:
        case Kind.WORDS:
            metavar = option.metavar or ""
            return SeveralWords(names, metavar=metavar, stops_at=_is_no_reporter, completes=completes, text=option.help)
        case Kind.FLAG:
            return click.Option(names, is_flag=True, help=option.help)
        case Kind.SWITCH:
            return click.Option(names, default=None, help=option.help)
    return click.Option(
        names,
        type=_type_of(option),
        metavar=option.metavar,
        multiple=option.several,
        shell_complete=completes,
        help=option.help,
    )


def _type_of(option: Option) -> click.ParamType[Any] | None:
    least, most = option.least, option.most
    match option.kind:
        case Kind.RUNS:
            return Runs()
        case Kind.NUMBER:
            return Number(least, most, min_open=option.excludes_least)
        case Kind.WHOLE:
            if least is None:
                return click.INT
            return click.IntRange(int(least))
    if option.choices:
        return click.Choice(option.choices)
    return None


def options_beside(own: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Return an option for each flag that a command does not have itself; formats that share a flag share the option.

    Args:
        own: the parameters of the command.
    """
    flags = {flag for parameter in own for flag in parameter.opts}
    return [option for flag, option in _by_flag().items() if flag not in flags]


@cache  # click knows options again by identity
def _by_flag() -> dict[str, click.Option]:
    options: dict[str, click.Option] = {}
    for field in FormatOptions.of_installed().fields:
        options.setdefault(field.option.flag, _option_of(field))
    return options


def _option_of(field: FormatField) -> click.Option:
    names = [field.option.flag, field.parameter]
    if field.option.several_words:
        return SeveralWords(names, metavar=field.option.metavar, text=field.help)
    if field.is_flag:
        return click.Option(names, is_flag=True, help=field.help)
    return click.Option(names, metavar=field.option.metavar, help=field.help, multiple=field.several)


class Runs(click.ParamType[int | Detect]):
    """A number of repeats, or a word that chooses it."""

    name = "runs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Detect:
        """Read it."""
        try:
            return runs_of(value)
        except UsageError as error:
            self.fail(" ".join(f"{problem.message}. {problem.hint}" for problem in error.problems), param, ctx)


class Number(click.FloatRange):
    """A number in a range; what no comparison holds for is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN and infinity, which click takes for numbers, and say how a percentage is written as a share."""
        try:
            number = super().convert(value, param, ctx)
        except click.BadParameter:
            if self.max == 1 and str(value).isdigit() and 1 < int(value) <= 100:
                self.fail(f"{value} is above 1: write {int(value) / 100:g} for {value} %", param, ctx)
            raise
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
