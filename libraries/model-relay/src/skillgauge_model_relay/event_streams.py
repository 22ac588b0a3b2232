"""Amazon's event streams, in which the events of a model's answer are base64 inside of binary messages."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterator

MEDIA_TYPE = "application/vnd.amazon.eventstream"
_LENGTHS = struct.Struct("!II")
_PRELUDE, _CHECKSUM = 12, 4
_LONGEST = 16 * 1024 * 1024
"""Bytes of a message; Amazon sends none that long."""


class EventReader:
    """Takes a stream as it comes and gives the events in it, one after the other.

    What is no such stream gives nothing: it is read for its figures only, and goes on its way unchanged.
    """

    def __init__(self) -> None:
        self._held = b""
        self._is_lost = False

    def events(self, piece: bytes) -> Iterator[bytes]:
        """Return the events that are whole with one more piece of the stream."""
        if self._is_lost:
            return
        self._held += piece
        while len(self._held) >= _PRELUDE:
            length, headers = _LENGTHS.unpack_from(self._held)
            if not _PRELUDE + _CHECKSUM + headers <= length <= _LONGEST:
                self._is_lost, self._held = True, b""
                return
            if len(self._held) < length:
                return
            payload = self._held[_PRELUDE + headers : length - _CHECKSUM]
            self._held = self._held[length:]
            yield _event(payload)


def _event(payload: bytes) -> bytes:
    """Return the event in a message; empty if it holds none."""
    try:
        encoded = json.loads(payload)["bytes"]
        return base64.b64decode(encoded, validate=True)
    except (ValueError, LookupError, TypeError, binascii.Error):
        return b""
