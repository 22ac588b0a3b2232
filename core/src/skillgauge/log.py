"""Events with a stable name and facts, on stderr; stdout belongs to reports. Only the command line configures logging.

On a terminal a line for people, elsewhere one JSON object a line. structlog takes longer to import than a small suite
takes to run, so it is imported by the first event that is loud enough.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

Clean = Callable[[Any], Any]
T = TypeVar("T")

_LINE_LENGTH = 300
_NARRATED = ("agent.event", "trial.finished")
"""What people are told by the display of the run, in better words."""


class _Settings:
    """The loudness of the process; changed once by `configure`."""

    threshold = logging.ERROR
    as_json: bool | None = None
    clean: Clean | None = None


def configure(*, verbose: bool, quiet: bool = False, as_json: bool | None = None) -> None:
    """Set the level: errors by default, everything with `verbose`, nothing but errors with `quiet`.

    Args:
        verbose: everything.
        quiet: nothing but errors.
        as_json: JSON objects, or lines for people; `None` decides by whether a terminal is there.
    """
    _Settings.as_json = as_json
    _Settings.threshold = logging.ERROR if quiet else logging.DEBUG if verbose else logging.WARNING


def loudness() -> tuple[int, bool | None]:
    """Return the settings, for a process that is to be as loud."""
    return _Settings.threshold, _Settings.as_json


def set_loudness(settings: tuple[int, bool | None]) -> None:
    """Be as loud as another process is."""
    _Settings.threshold, _Settings.as_json = settings


def one_line(error: BaseException) -> str:
    """Type and text of an exception, on one line of bounded length."""
    text = without_secrets(" ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":"))
    return text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}..."


def keep_out(clean: Clean) -> None:
    """Pass every text and event through a function that takes secrets out of it, from now on."""
    _Settings.clean = clean


def without_secrets(value: T) -> T:
    """A text, or whatever is made of texts, as it may be written down, as far as this run knows its secrets.

    What is cut to a length goes through it before: of a secret that is cut nobody knows the rest.
    """
    return cast("T", _Settings.clean(value)) if _Settings.clean else value


class Logger:
    """Events with a stable dotted name and facts as keys."""

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, event: str, **facts: object) -> None:
        """For developers of plugins: every hook call, process and decision."""
        self._emit(logging.DEBUG, event, facts)

    def info(self, event: str, **facts: object) -> None:
        """One event per trial or file."""
        self._emit(logging.INFO, event, facts)

    def warning(self, event: str, **facts: object) -> None:
        """Something went wrong and was contained."""
        self._emit(logging.WARNING, event, facts)

    def error(self, event: str, **facts: object) -> None:
        """Something went wrong that the user must act on."""
        self._emit(logging.ERROR, event, facts)

    def _emit(self, level: int, event: str, facts: dict[str, Any]) -> None:
        if level < _Settings.threshold or (_Settings.as_json is False and event in _NARRATED):
            return
        for_people = sys.stderr.isatty() if _Settings.as_json is None else not _Settings.as_json
        import structlog  # noqa: PLC0415 - see the module docstring

        if _Settings.threshold > logging.DEBUG:
            facts.pop("exc_info", None)  # a traceback is for developers
        processors: list[Any] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            lambda _logger, _method, facts: without_secrets(facts),
            structlog.dev.ConsoleRenderer(colors=False) if for_people else structlog.processors.JSONRenderer(),
        ]
        logger = structlog.wrap_logger(structlog.PrintLogger(sys.stderr), processors).bind(logger=self._name)
        getattr(logger, logging.getLevelName(level).lower())(event, **facts)


def get_logger(name: str) -> Logger:
    """The logger of a module; call it once, at the top, with `__name__`."""
    return Logger(name)
