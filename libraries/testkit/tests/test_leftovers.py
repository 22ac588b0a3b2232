"""Descriptors and threads that are left behind are found, those that were there before are not."""

from __future__ import annotations

import os
import threading

import pytest

from skillgauge_testkit.leftovers import leaves_nothing


def test_what_is_left_is_named() -> None:
    """The message names them, and the end of an earlier one is no fault."""
    released = threading.Event()
    thread = threading.Thread(target=released.wait, name="idle")
    with pytest.raises(AssertionError, match=r"threads are left: \['idle'\]"), leaves_nothing():
        thread.start()
    with leaves_nothing():
        released.set()
        thread.join()
    descriptor = os.open(os.devnull, os.O_RDONLY)
    with leaves_nothing():
        os.close(descriptor)
    with pytest.raises(AssertionError, match=r"descriptors are left: \[\("), leaves_nothing():
        reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
