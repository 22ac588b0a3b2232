"""Turn the load options of the installed formats into options of a command, without knowing any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import click

from ..contract.formats import LoadOption
from ..plugins.kinds import FORMATS
from ..plugins.registry import Registry
from .installed import read_index
from .options import SeveralWords


@dataclass(frozen=True)
class _Field:
    """One load option."""

    format: str
    name: str
    """Field of the format's options model."""
    option: LoadOption
    several: bool
    is_flag: bool
    help: str

    @property
    def parameter(self) -> str:
        """Name among the parsed values; unlike any of the command's own."""
        return f"load_{self.option.flag.lstrip('-').replace('-', '_')}"

    def click_option(self) -> click.Option:
        """The option as click wants it."""
        names = [self.option.flag, self.parameter]
        if self.option.several_words:
            return SeveralWords(names, metavar=self.option.metavar, text=self.help)
        if self.is_flag:
            return click.Option(names, is_flag=True, help=self.help)
        return click.Option(names, metavar=self.option.metavar, help=self.help, multiple=self.several)


class FormatOptions:
    """The load options of a set of formats."""

    def __init__(self, fields: list[_Field]) -> None:
        self._fields = fields

    @staticmethod
    @cache
    def of_installed() -> FormatOptions:
        """Those of the installed formats."""
        fields = []
        for resolved in Registry(read_index()).load_all(FORMATS):
            for name, info in resolved.provider.options.model_fields.items():
                for mark in info.metadata:
                    if isinstance(mark, LoadOption):
                        several = "tuple" in str(info.annotation)
                        is_flag = info.annotation is bool
                        fields.append(_Field(resolved.name, name, mark, several, is_flag, info.description or ""))
        return FormatOptions(fields)

    def beside(self, own: Sequence[click.Parameter]) -> list[click.Parameter]:
        """An option for each flag that a command does not have itself; formats that share a flag share the option."""
        have = {flag for param in own for flag in param.opts}
        return [option for flag, option in self._by_flag.items() if flag not in have]

    @cached_property
    def _by_flag(self) -> dict[str, click.Option]:
        """Made once, since click knows options again by identity."""
        options: dict[str, click.Option] = {}
        for one in self._fields:
            options.setdefault(one.option.flag, one.click_option())
        return options

    def paths(self, values: Mapping[str, Any], cwd: Path) -> dict[str, tuple[Path, ...]]:
        """Paths that were given for one format, by its name."""
        found: dict[str, tuple[Path, ...]] = {}
        for one in self._fields:
            if one.option.paths and values.get(one.parameter):
                found[one.format] = tuple(cwd / word for word in values[one.parameter])
        return found

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the options that were given, by field name."""
        return {
            one.name: values[one.parameter]
            for one in self._fields
            if not one.option.paths and values.get(one.parameter) not in (None, (), False)
        }
