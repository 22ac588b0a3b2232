"""The messages between the two ends of a connection: frames of a kind, a number and bytes."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct(">BQI")


class Kind(IntEnum):
    """The meaning of a frame; those from `READY` on come from the worker, unless they say otherwise."""

    PREPARE = 1
    """A recipe; the number is how many attempts the worker gets at once."""
    ATTEMPT = 2
    """A trial, as JSON, with a number that its answer carries."""
    CANCEL = 3
    """Stop the attempt of that number; it is answered all the same."""
    READY = 4
    REFUSED = 5
    """An `Admission` with reasons, as JSON; the worker ends."""
    RESULT = 6
    """As JSON."""
    FAILED = 7
    """What went wrong beside the attempt, as text."""
    CANCELLED = 8
    SPENT = 9
    """What the attempt of that number has used so far, as JSON; its answer is still to come."""
    KEEP = 10
    """The execution of the attempt of that number, as JSON; it is not graded before `SAFE` has come."""
    SAFE = 11
    """To the worker: what it sent by `KEEP` is kept."""
    KEPT = 12
    """To the worker: what an earlier attempt has executed, as JSON, for the attempt of that number, which follows."""
    STEP = 13
    """What the agent of the attempt of that number has just done, as JSON."""
    FETCH = 14
    """As `PREPARE`, to a worker that asks for the files of the run first."""
    ASK = 15
    """For the file with a digest, or without one for the list of the files; before `READY`."""
    CONTENT = 16
    """To the worker: what it asked for."""


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


def packed(frame: Frame) -> bytes:
    """A frame as bytes."""
    return _HEADER.pack(frame.kind, frame.number, len(frame.content)) + frame.content


def unpacked(content: bytes) -> Iterator[Frame]:
    """The frames that whole frames in a row were packed to."""
    start = 0
    while start < len(content):
        kind, number, length = _HEADER.unpack_from(content, start)
        start += _HEADER.size
        yield Frame(Kind(kind), number, content[start : start + length])
        start += length


def send(writer: asyncio.StreamWriter, frame: Frame) -> None:
    """Send a frame, unless the connection is closed; who receives notices that by itself."""
    if not writer.is_closing():
        writer.write(packed(frame))
