"""The blocks of options that plugins of a run share: what each plugin declares, and whether they agree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from skillgauge_documents.immutables import immutable

from ..contract.shared_options import SHARED, Shared
from ..errors import Problem
from .kinds import KINDS, Resolved

_NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")


@immutable
class Block:
    """A shared block, as one plugin declares it."""

    name: str
    option: str
    """The plugin's option that takes it."""
    model: type[BaseModel]

    @property
    def full_name(self) -> str:
        """What its options are set under."""
        return f"{SHARED}.{self.name}"

    def merged(self, shared: Mapping[str, object], own: object) -> object:
        """Return the values of the option: those that are set for the plugin itself go before shared ones."""
        if own is None:
            return shared
        if isinstance(own, Mapping):
            return {**shared, **own}
        return own


@cache
def blocks_of(options: type[BaseModel]) -> tuple[Block, ...]:
    """Return the shared blocks of an options model.

    Raises:
        TypeError: a field is marked that cannot be one.
    """
    return tuple(
        _block(field.alias or name, field.annotation, mark.block)
        for name, field in options.model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Shared)
    )


def _block(option: str, annotation: Any, name: str) -> Block:
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        raise TypeError(f"its option {option!r} is a shared block, so its type must be a pydantic model")
    if not _NAME.fullmatch(name):
        raise TypeError(f"its option {option!r} names the shared block {name!r}: use lower-case words and hyphens")
    return Block(name, option, annotation)


class SharedBlocks:
    """The shared blocks of all plugins that were loaded; the first plugin that declares one fixes its schema."""

    def __init__(self) -> None:
        self._declared: dict[str, tuple[Resolved, Block]] = {}
        self.conflicts: list[Problem] = []
        """One for each plugin that declares a block in another way than the first."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all blocks."""
        return tuple(self._declared)

    def model(self, name: str) -> type[BaseModel] | None:
        """Return the model of a block; `None` if no loaded plugin declares it."""
        return self._declared[name][1].model if name in self._declared else None

    def declare(self, plugin: Resolved) -> Problem | None:
        """Take in the blocks of a plugin.

        Returns:
            The problem, if it declares one in another way than a plugin before it; then none of its blocks counts.

        Raises:
            TypeError: a field is marked that cannot be a block.
        """
        blocks = blocks_of(plugin.provider.options)
        for block in blocks:
            first, declared = self._declared.get(block.name, (plugin, block))
            if _schema(declared.model) != _schema(block.model):
                problem = _conflict(block, first, plugin)
                self.conflicts.append(problem)
                return problem
        for block in blocks:
            self._declared.setdefault(block.name, (plugin, block))
        return None


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return what two declarations of a block must have in common: all but the name and docstring of the model."""
    schema = model.model_json_schema()
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _conflict(block: Block, first: Resolved, second: Resolved) -> Problem:
    plugins = " and ".join(
        f"{KINDS[plugin.kind].singular} '{plugin.name}' of {plugin.distribution} {plugin.version}"
        for plugin in (first, second)
    )
    message = f"shared options {block.full_name!r} are declared with different schemas by {plugins}"
    hint = "Install versions of both that fit, or leave one out with --no-plugin NAME."
    return Problem("plugin.shared", message, hint=hint)
