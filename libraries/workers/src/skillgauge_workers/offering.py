"""The offer of a machine to the runs of an executor, as `skillgauge worker` makes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Offer:
    """A worker that its executor may use, as its owner describes it."""

    name: str
    """In messages of runs."""
    places: int
    """Attempts at once."""
    resources: Mapping[str, float] = field(default_factory=dict)
    """Amounts of named things that attempts may take."""
    host: str | None = None
    """Address of this machine at which others reach the worker; `None` leaves it to the executor."""


Serve = Callable[[Any, Offer, Callable[[str], None]], Awaitable[None]]
"""Serves runs of an executor: the object that `Provider.worker` names. It gets validated options of that executor, the
offer, and a function that takes lines for the user; it returns when the worker is stopped or the other end is gone."""
