"""Options of the command line for the load options of the installed formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import click

from ..evaluation.options import FormatField, FormatOptions
from .options import SeveralWords


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
