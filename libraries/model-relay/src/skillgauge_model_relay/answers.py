"""The answers of a model API: cleaned of the key, and read for the tokens that they report."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from urllib.parse import quote

from skillgauge.api import Usage

from .event_streams import MEDIA_TYPE, EventReader

_LEAST = 6
"""Characters of a header's value that is taken for a key."""
_COUNT = re.compile(rb'"([A-Za-z_]{10,40})"\s*:\s*(\d{1,12})(?=[\s,}])')
_KEPT = 128
"""Bytes in which a count that two pieces share stands."""
_KINDS = {
    **dict.fromkeys((b"input_tokens", b"prompt_tokens", b"promptTokenCount"), "input_tokens"),
    **dict.fromkeys((b"output_tokens", b"completion_tokens", b"candidatesTokenCount"), "output_tokens"),
    b"cache_read_input_tokens": "cache_read_tokens",
    b"cache_creation_input_tokens": "cache_write_tokens",
    **dict.fromkeys((b"cached_tokens", b"cachedContentTokenCount", b"prompt_cache_hit_tokens"), "cached"),
    b"reasoning_tokens": "reasoning_tokens",
    b"thoughtsTokenCount": "thoughts",
}
"""How APIs call what they count of one answer. In a stream it is told again and again and only grows.

`cached` is input that a cache held and that stands in the count of input as well; `thoughts` is reasoning that does not
stand in the count of output. Both are settled when an answer is added up.
"""


class Scrubber:
    """Puts asterisks over a key, as many as it is long: no length that was announced changes.

    Args:
        keys: values of the headers by which a client is known.
    """

    def __init__(self, keys: Iterable[bytes]) -> None:
        words = {word for key in keys for word in (key, key.rpartition(b" ")[2]) if len(word) >= _LEAST}
        spelt = {*words, *map(base64.b64encode, words), *(quote(word, safe="").encode() for word in words)}
        self._forms = sorted(spelt, key=len, reverse=True)

    def clean(self, content: bytes) -> bytes:
        """A whole text without the key."""
        for form in self._forms:
            content = content.replace(form, b"*" * len(form))
        return content

    async def stream(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces without the key, wherever one ends; only what may be its beginning waits for the next."""
        held = b""
        async for piece in pieces:
            held = self.clean(held + piece)
            waiting = self._begun(held)
            ready, held = held[: len(held) - waiting], held[len(held) - waiting :]
            if ready:
                yield ready
        if held:
            yield held

    def _begun(self, content: bytes) -> int:
        """Bytes at the end that may begin a key."""
        longest = min(len(content), max((len(form) - 1 for form in self._forms), default=0))
        sizes = range(longest, 0, -1)
        return next((size for size in sizes if any(form.startswith(content[-size:]) for form in self._forms)), 0)


class Tally:
    """Adds up what answers say of tokens, whoever asked for them."""

    def __init__(self) -> None:
        self._answers: list[dict[str, int]] = []
        """Tokens by kind of each answer that is coming in."""
        self._sums: dict[str, int] = {}
        """The same of all that have ended, together."""
        self.broken_off = 0
        """Answers that did not come to their end, so that they may have used more than they named."""

    @property
    def usage(self) -> Usage | None:
        """Tokens of all answers, those that are coming in included; `None` if none has named any."""
        sums = dict(self._sums)
        for answer in self._answers:
            _add(sums, answer)
        if not sums:
            return None
        total = sum(count for kind, count in sums.items() if kind != "reasoning_tokens")
        return Usage.model_validate({**sums, "total_tokens": total})

    async def stream(self, pieces: AsyncIterator[bytes], media_type: str = "") -> AsyncIterator[bytes]:
        """The same pieces, read on the way.

        Args:
            pieces: of the answer.
            media_type: of the answer; Amazon's event streams hide their figures in base64.
        """
        most: dict[str, int] = {}
        tail = b""
        reader = EventReader() if media_type.startswith(MEDIA_TYPE) else None
        self._answers.append(most)
        is_whole = False
        try:
            async for piece in pieces:
                tail = tail[-_KEPT:] + (b"\n".join(reader.events(piece)) if reader else piece)
                for name, count in _COUNT.findall(tail):
                    if kind := _KINDS.get(name):
                        most[kind] = max(most.get(kind, 0), int(count))
                yield piece
            is_whole = True
        finally:
            self._answers = [answer for answer in self._answers if answer is not most]
            _add(self._sums, most)
            self.broken_off += not is_whole


def _add(sums: dict[str, int], counts: Mapping[str, int]) -> None:
    """Add an answer, in kinds that do not hold each other but for reasoning, which is output."""
    kinds = dict(counts)
    if (cached := kinds.pop("cached", None)) is not None:
        kinds["input_tokens"] = max(0, kinds.get("input_tokens", 0) - cached)
        kinds["cache_read_tokens"] = cached
    if (thoughts := kinds.pop("thoughts", None)) is not None:
        kinds["output_tokens"] = kinds.get("output_tokens", 0) + thoughts
        kinds["reasoning_tokens"] = thoughts
    for kind, count in kinds.items():
        sums[kind] = sums.get(kind, 0) + count
