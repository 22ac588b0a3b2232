"""The messages between the two ends of a connection: frames of a kind, a number and bytes."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct(">BQI")


class Kind(IntEnum):
    """The meaning of a frame; the first three go to the worker, the others come from it."""

    PREPARE = 1
    """A recipe; the number is how many attempts the worker gets at once."""
    ATTEMPT = 2
    """A trial, as JSON, with a number that its answer carries."""
    CANCEL = 3
    """Stop the attempt of that number; it is answered all the same."""
    READY = 4
    REFUSED = 5
    """Why the evaluation cannot be prepared, as text; the worker ends."""
    RESULT = 6
    """As JSON."""
    FAILED = 7
    """What went wrong beside the attempt, as text."""
    CANCELLED = 8
    SPENT = 9
    """What the attempt of that number has used so far, as JSON; its answer is still to come."""


@dataclass(frozen=True)
class Frame:
    """One message."""

    kind: Kind
    number: int = 0
    content: bytes = b""


async def receive(reader: asyncio.StreamReader) -> Frame:
    """The next frame.

    Raises:
        EOFError: the other end is gone.
    """
    try:
        kind, number, length = _HEADER.unpack(await reader.readexactly(_HEADER.size))
        return Frame(Kind(kind), number, await reader.readexactly(length))
    except OSError as error:
        raise EOFError from error


def send(writer: asyncio.StreamWriter, frame: Frame) -> None:
    """Send a frame, unless the connection is closed; who receives notices that by itself."""
    if not writer.is_closing():
        writer.write(_HEADER.pack(frame.kind, frame.number, len(frame.content)) + frame.content)
