"""The load options of the installed formats, without knowing any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..contract.formats import LoadOption
from ..plugins.installed import read_index
from ..plugins.kinds import FORMATS
from ..plugins.registry import Registry


@dataclass(frozen=True)
class FormatField:
    """One load option of a format."""

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


class FormatOptions:
    """The load options of a set of formats.

    Args:
        fields: one for each.
    """

    def __init__(self, fields: Sequence[FormatField]) -> None:
        self.fields = tuple(fields)

    @staticmethod
    @cache
    def of_installed() -> FormatOptions:
        """Return those of the installed formats."""
        fields = []
        for resolved in Registry(read_index()).load_all(FORMATS):
            for name, info in resolved.provider.options.model_fields.items():
                for mark in info.metadata:
                    if isinstance(mark, LoadOption):
                        several = "tuple" in str(info.annotation)
                        is_flag = info.annotation is bool
                        fields.append(FormatField(resolved.name, name, mark, several, is_flag, info.description or ""))
        return FormatOptions(fields)

    def paths(self, values: Mapping[str, Any], cwd: Path) -> dict[str, tuple[Path, ...]]:
        """Return the paths that were given for one format, by its name."""
        paths: dict[str, tuple[Path, ...]] = {}
        for field in self.fields:
            if field.option.paths and values.get(field.parameter):
                paths[field.format] = tuple(cwd / word for word in values[field.parameter])
        return paths

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the options that were given, by field name."""
        return {
            field.name: values[field.parameter]
            for field in self.fields
            if not field.option.paths and values.get(field.parameter) not in (None, (), False)
        }
