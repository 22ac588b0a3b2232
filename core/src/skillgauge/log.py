"""Loggers that cost nothing until something is logged.

structlog takes longer to import than a small suite takes to run, so it is imported by the first event that is loud
enough. Logs go to stderr; stdout belongs to reports. Only the command line configures logging.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any

Event = MutableMapping[str, Any]
Clean = Callable[[Event], Event]

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


_LINE_LENGTH = 300


class _Settings:
    """How loud the process is; changed once by `configure`."""

    threshold = logging.ERROR
    configured = False
    clean: Clean | None = None


def configure(*, verbose: bool, quiet: bool = False) -> None:
    """Set the level: errors by default, everything with `verbose`, nothing but errors with `quiet`."""
    _Settings.threshold = logging.ERROR if quiet else logging.DEBUG if verbose else logging.WARNING


def loudness() -> int:
    """The level that was set, for a process that is to be as loud."""
    return _Settings.threshold


def set_loudness(level: int) -> None:
    """Be as loud as another process is."""
    _Settings.threshold = level


def one_line(error: BaseException) -> str:
    """Type and text of an exception, on one line of bounded length."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}..."


def keep_out(clean: Clean) -> None:
    """Pass every event through a function that takes secrets out of it, from now on."""
    _Settings.clean = clean


def without_secrets(text: str) -> str:
    """A text as it may be written down, as far as this run knows its secrets."""
    return str(_cleaned(None, "", {"text": text})["text"])


def _cleaned(_logger: object, _method: str, event: Event) -> Event:
    return _Settings.clean(event) if _Settings.clean else event


def _structlog() -> Any:
    import structlog  # noqa: PLC0415 - see the module docstring

    if not _Settings.configured:
        renderer = (
            structlog.dev.ConsoleRenderer(colors=False)
            if sys.stderr.isatty()
            else structlog.processors.JSONRenderer(sort_keys=True)
        )
        structlog.configure(
            processors=[
                structlog.contextvars.merge_contextvars,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                _cleaned,
                renderer,
            ],
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
            cache_logger_on_first_use=True,
        )
        _Settings.configured = True
    return structlog


class Logger:
    """Events with a stable dotted name and facts as keys."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _emit(self, level: str, event: str, facts: dict[str, object]) -> None:
        if _LEVELS[level] >= _Settings.threshold:
            if _Settings.threshold > logging.DEBUG:
                facts.pop("exc_info", None)  # a traceback is for developers
            getattr(_structlog().get_logger(self._name), level)(event, **facts)

    def debug(self, event: str, **facts: object) -> None:
        """For developers of plugins: every hook call, process and decision."""
        self._emit("debug", event, facts)

    def info(self, event: str, **facts: object) -> None:
        """One event per trial or file."""
        self._emit("info", event, facts)

    def warning(self, event: str, **facts: object) -> None:
        """Something went wrong and was contained."""
        self._emit("warning", event, facts)

    def error(self, event: str, **facts: object) -> None:
        """Something went wrong that the user must act on."""
        self._emit("error", event, facts)


def get_logger(name: str) -> Logger:
    """The logger of a module; call it once, at the top, with `__name__`."""
    return Logger(name)
