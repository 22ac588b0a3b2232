"""A suite format made of functions, each imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from pydantic import BaseModel

from ..types.comparison import GroupKey
from ..types.result import Figure, SuiteSummary
from ..types.suite import Suite
from .formats import Claim, Dumped, Loaded, LoadRequest, SuiteFormat
from .providers import imported

T = TypeVar("T")
P = ParamSpec("P")


def format_of(
    *,
    claim: str | Callable[[Path], Claim | None],
    load: str | Callable[..., Loaded],
    dump: str | Callable[[Suite], Dumped],
    figures: str | Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]] | None = None,
) -> Callable[..., SuiteFormat]:
    """Make the `factory` of a suite format out of its functions, so that no class has to hold them together.

    Each is named as `"module:name"`. `claim` is imported when the format is made, since every path is shown to it; the
    others when they are first called. A plugin of one file, which has no name to import, gives the functions as such.

    Example::

        Provider(
            name="acme",
            factory=format_of(claim="acme.claiming:claim", load="acme.loading:load", dump="acme.dumping:dump"),
            summary="Suites of the ACME test bench.",
        )

    Args:
        claim: does what `SuiteFormat.claim` does.
        load: does what `SuiteFormat.load` does. If the provider has a model of options, a second argument holds them:
            those of the configuration, overridden by those of the request.
        dump: does what `SuiteFormat.dump` does.
        figures: does what `SuiteFormat.figures` does; without it the format has no numbers of its own.

    Raises:
        ValueError: a text is not of the form `"module:name"`; with all such texts.
    """
    parts = _Parts(claim, load, dump, figures)
    malformed = [f"{part}={text!r}" for part, text in parts.texts.items() if not _is_name(text)]
    if malformed:
        raise ValueError(f"format_of({', '.join(malformed)}): name each function as 'module:name'")
    return partial(_FormatOfParts, parts)


def _is_name(text: str) -> bool:
    module, _, name = text.partition(":")
    return name.isidentifier() and all(part.isidentifier() for part in module.split("."))


@dataclass(frozen=True)
class _Parts:
    """The functions of a format, or where they are."""

    claim: str | Callable[[Path], Claim | None]
    load: str | Callable[..., Loaded]
    dump: str | Callable[[Suite], Dumped]
    figures: str | Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]] | None

    @property
    def texts(self) -> Mapping[str, str]:
        """The functions that have to be imported, by part."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return {part: value for part, value in values.items() if isinstance(value, str)}


class _FormatOfParts:
    """A suite format that calls its functions.

    Args:
        parts: its functions.
        options: those of the configuration, if the format has a model of options.
    """

    def __init__(self, parts: _Parts, options: BaseModel | None = None) -> None:
        self._parts = parts
        self._options = options
        self._claim = _function("claim", parts.claim)

    def claim(self, path: Path) -> Claim | None:
        """Ask the format's own `claim`."""
        return self._claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """Load with the options of configuration and request."""
        if self._options is None:
            return self._load(request)
        return self._load(request, request.options_over(self._options))

    def dump(self, suite: Suite) -> Dumped:
        """Ask the format's own `dump`."""
        return self._dump(suite)

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Ask the format's own `figures`, if it has any."""
        return self._figures(summary)

    @cached_property
    def _load(self) -> Callable[..., Loaded]:
        return _function("load", self._parts.load)

    @cached_property
    def _dump(self) -> Callable[[Suite], Dumped]:
        return _function("dump", self._parts.dump)

    @cached_property
    def _figures(self) -> Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]]:
        return _no_figures if self._parts.figures is None else _function("figures", self._parts.figures)


def _no_figures(_summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    return {}


def _function(part: str, maker: str | Callable[P, T]) -> Callable[P, T]:
    """Import a part.

    Raises:
        ImportError: the text names nothing, or no function.
    """
    hint = f"correct `{part}` where the plugin calls format_of"
    try:
        function = imported(maker)
    except ImportError as error:
        raise ImportError(f"{error}; {hint}") from error
    if not callable(function):
        raise ImportError(f"{maker!r} is {type(function).__name__}, not a function; {hint}")
    return function
