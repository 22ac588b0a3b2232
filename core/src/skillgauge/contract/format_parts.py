"""A suite format made of functions, each imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..types.arms import GroupKey
from ..types.suite import Suite
from ..types.trial import SuiteHead
from .formats import Claim, Dumped, Loaded, LoadRequest, SuiteFormat
from .providers import imported

if TYPE_CHECKING:
    from ..types.results.summaries import Figure, SuiteSummary

Part = str | Callable[..., Any]
"""A function, or where it is: `"module:name"`."""


def format_of(
    *,
    claim: str | Callable[[Path], Claim | None],
    load: str | Callable[..., Loaded],
    dump: str | Callable[[Suite], Dumped],
    figures: str | Callable[[SuiteSummary], Mapping[GroupKey, tuple[Figure, ...]]] | None = None,
    has_headline: str | Callable[[SuiteHead], bool] | None = None,
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
        has_headline: does what `FormatWithHeadlines.has_headline` does; without it there is no such figure.

    Raises:
        ValueError: a text is not of the form `"module:name"`; with all such texts.
    """
    parts: dict[str, Part] = {
        "claim": claim,
        "load": load,
        "dump": dump,
        "figures": figures or _no_figures,
        "has_headline": has_headline or _no_headline,
    }
    malformed = [f"{name}={part!r}" for name, part in parts.items() if isinstance(part, str) and not _is_place(part)]
    if malformed:
        raise ValueError(f"format_of({', '.join(malformed)}): name each function as 'module:name'")
    return partial(_FormatOfParts, parts)


def _is_place(text: str) -> bool:
    module, _, name = text.partition(":")
    return name.isidentifier() and all(step.isidentifier() for step in module.split("."))


def _no_figures(_summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
    return {}


def _no_headline(_suite: SuiteHead) -> bool:
    return False


class _FormatOfParts:
    """A suite format that calls its functions.

    Args:
        parts: its functions, by the name of the method that each stands for.
        options: those of the configuration, if the format has a model of options.
    """

    def __init__(self, parts: Mapping[str, Part], options: BaseModel | None = None) -> None:
        self._parts = parts
        self._options = options
        self._claim: Callable[[Path], Claim | None] = self._function("claim")

    def claim(self, path: Path) -> Claim | None:
        """Ask the format's own `claim`."""
        return self._claim(path)

    def load(self, request: LoadRequest) -> Loaded:
        """Load with the options of configuration and request."""
        options = () if self._options is None else (request.options_over(self._options),)
        loaded: Loaded = self._function("load")(request, *options)
        return loaded

    def dump(self, suite: Suite) -> Dumped:
        """Ask the format's own `dump`."""
        dumped: Dumped = self._function("dump")(suite)
        return dumped

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """Ask the format's own `figures`, if it has any."""
        figures: Mapping[GroupKey, tuple[Figure, ...]] = self._function("figures")(summary)
        return figures

    def has_headline(self, suite: SuiteHead) -> bool:
        """Ask the format's own `has_headline`, if it has any."""
        has_headline: bool = self._function("has_headline")(suite)
        return has_headline

    def _function(self, name: str) -> Callable[..., Any]:
        """Import a part.

        Raises:
            ImportError: its text names nothing, or no function.
        """
        part = self._parts[name]
        hint = f"correct `{name}` where the plugin calls format_of"
        try:
            function = imported(part)
        except ImportError as error:
            raise ImportError(f"{error}; {hint}") from error
        if not callable(function):
            raise ImportError(f"{part!r} is {type(function).__name__}, not a function; {hint}")
        return function
