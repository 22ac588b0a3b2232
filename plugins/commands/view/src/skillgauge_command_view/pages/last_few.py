"""Values that took long to make, of which the last few stay in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class LastFew(Generic[T]):
    """See the module. Safe to be asked from several threads, of which two may make the same value at a time.

    Args:
        size: how many of those that were asked for last stay.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; it is made if it does not stay in memory."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        value = make()
        with self._lock:
            self._known[key] = value
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return value
