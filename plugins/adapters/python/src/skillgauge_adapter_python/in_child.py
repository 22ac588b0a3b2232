"""Runs in the child process, given to it as text: what it means to call a callable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def prepare(
    callable_found: Any, settings: dict[str, Any], wait: Callable[[Any], Any]
) -> Callable[[Any], dict[str, Any]]:
    """Return a function that calls a callable with the input as its one argument and awaits the result if it can.

    Args:
        callable_found: what the entrypoint names.
        settings: there is none that matters here.
        wait: gives what an awaitable comes to, and anything else as it is.

    Raises:
        TypeError: it cannot be called.
    """
    if not callable(callable_found):
        raise TypeError(
            f"the entrypoint names an object of type {type(callable_found).__name__}, which cannot be called"
        )
    return lambda value: {"result": wait(callable_found(value))}
