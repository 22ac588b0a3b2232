"""Bodies of HTTP answers, counted before and while they are decoded."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["PIECE_BYTES", "Decoder", "EncodingError"]

PIECE_BYTES = 64 * 1024
"""Most that is decoded at once."""
_ANY_HEADER = 32 + zlib.MAX_WBITS
"""What zlib calls gzip or zlib, whichever it is."""
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


class EncodingError(ValueError):
    """A body that cannot be decoded, or is not."""


class Decoder:
    """Decodes one body.

    Args:
        encoding: its header `Content-Encoding`, empty without one.

    Raises:
        EncodingError: it is not known, or there are several.
    """

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", *_KNOWN):
            raise EncodingError(f"it is encoded as {encoding[:50]!r}, although it was asked for as it is")
        self._zlib = zlib.decompressobj(_ANY_HEADER) if name in _KNOWN else None

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the decoded pieces of a part of the body. Nothing is decoded beyond the last piece that is taken.

        Raises:
            EncodingError: it is damaged.
        """
        if self._zlib is None:
            yield from (chunk[at : at + PIECE_BYTES] for at in range(0, len(chunk), PIECE_BYTES))
            return
        while chunk and not self._zlib.eof:
            try:
                piece = self._zlib.decompress(chunk, PIECE_BYTES)
            except zlib.error as error:
                raise EncodingError(str(error)) from error
            chunk = self._zlib.unconsumed_tail
            if piece:
                yield piece
