"""Bodies come back whole, in pieces that are bounded, and bombs do not go off."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_http_bodies import PIECE_BYTES, Decoder, EncodingError

WAYS: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    ("", bytes),
    ("identity", bytes),
    ("gzip", gzip.compress),
    ("X-GZIP", gzip.compress),
    ("deflate", zlib.compress),
)


@pytest.mark.parametrize(("encoding", "encode"), WAYS)
@given(data=st.binary(max_size=300_000), size=st.integers(1, 100_000))
def test_bodies_come_back(encoding: str, encode: Callable[[bytes], bytes], data: bytes, size: int) -> None:
    """However a body is cut into chunks on its way."""
    decoder, wire = Decoder(encoding), encode(data)
    pieces = [piece for at in range(0, len(wire), size) for piece in decoder.pieces(wire[at : at + size])]
    assert b"".join(pieces) == data
    assert all(len(piece) <= PIECE_BYTES for piece in pieces)


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip,deflate", "br", "zstd", "compress", "identity, gzip", "é"])
def test_what_is_not_known_is_refused(encoding: str) -> None:
    """Several at once among it (T-S4)."""
    with pytest.raises(EncodingError, match="encoded as"):
        Decoder(encoding)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_damage_is_told(encoding: str) -> None:
    """And is no crash."""
    with pytest.raises(EncodingError, match="while decompressing"):
        list(Decoder(encoding).pieces(b"\xff\xff no such thing"))


@pytest.mark.slow
def test_a_bomb_takes_what_is_asked_for() -> None:
    """Of a gigabyte of zeros only the beginning is made."""
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    tracemalloc.start()
    try:
        taken = 0
        for piece in Decoder("gzip").pieces(bomb):
            taken += len(piece)
            if taken > 1 << 20:
                break
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20
