"""A program's own event stream, kept for whoever wants to see for himself."""

from __future__ import annotations

import json
from collections import deque

RAW_BYTES = 1024 * 1024
"""What is kept of a stream where nobody says otherwise."""


class RawStream:
    """Keeps whole lines: the first and the last of them if there are too many, with a note where the others were.

    Args:
        limit: bytes to keep.
    """

    def __init__(self, limit: int = RAW_BYTES) -> None:
        self._half = max(1, limit // 2)
        self._head: list[bytes] = []
        self._head_bytes = 0
        self._is_head_full = False
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.lines_left_out = 0
        self._bytes_left_out = 0

    def add(self, line: bytes) -> None:
        """Keep a line, given without its end."""
        size = len(line) + 1
        if not self._is_head_full and self._head_bytes + size <= self._half:
            self._head.append(line)
            self._head_bytes += size
            return
        self._is_head_full = True
        self._tail.append(line)
        self._tail_bytes += size
        while self._tail_bytes > self._half:
            gone = self._tail.popleft()
            self._tail_bytes -= len(gone) + 1
            self.lines_left_out += 1
            self._bytes_left_out += len(gone) + 1

    def text(self) -> str:
        """The stream, one event per line."""
        lines = [*self._head]
        if self.lines_left_out:
            note = {"type": "skillgauge.left_out", "lines": self.lines_left_out, "bytes": self._bytes_left_out}
            lines.append(json.dumps(note).encode())
        lines += self._tail
        return "".join(f"{line.decode('utf-8', 'replace')}\n" for line in lines)
