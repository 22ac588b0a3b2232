"""Digests of JSON values: equal exactly for equal values, on every machine."""

from __future__ import annotations

import hashlib
import json

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False)


def canonical_json(value: object) -> str:
    """The one JSON text of a value: sorted keys, no blanks, ASCII only.

    Two values are the same input exactly if their canonical texts are equal. `1` and `1.0` differ.
    """
    return _ENCODER.encode(value)


def digest(*parts: object) -> str:
    """SHA-256 (hex, first 32 digits: 128 bits) of the canonical JSON of the parts, in order."""
    return hashlib.sha256(canonical_json(parts).encode("ascii")).hexdigest()[:32]


def digest_text(text: str) -> str:
    """SHA-256 (hex, first 32 digits) of a text, for joining digests that are already canonical."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
