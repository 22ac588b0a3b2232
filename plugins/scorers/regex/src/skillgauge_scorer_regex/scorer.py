"""Patterns in a text."""

from __future__ import annotations

import asyncio

import regex

from skillgauge.api import JsonValue, Score, ScoreContext
from skillgauge_patterns import compiled

from .options import RegexOptions

_AT_ONCE_S = 0.01
"""What a pattern may take without a thread, which costs more than most searches. As all times that `regex` takes, it is
processor time of the process."""
_SHOWN_PATTERNS = 20
_SHOWN = 100


class RegexScorer:
    """Passes an output in which all patterns are found, or none where none may be; its value is the share that holds.

    Text is searched as it is, anything else as JSON, so that keys count too.
    """

    version = "2"

    def __init__(self, options: RegexOptions) -> None:
        flags = 0 if options.case_sensitive else regex.IGNORECASE
        self._patterns = tuple(compiled(pattern, flags) for pattern in options.patterns)
        self._timeout_s, self._absent = options.timeout_s, options.absent

    async def score(self, context: ScoreContext) -> Score:
        """Search for each pattern."""
        text = context.answer.text
        wrong: list[str] = []
        for pattern in self._patterns:
            try:
                if await self._is_found(pattern, text) is self._absent:
                    wrong.append(pattern.pattern)
            except TimeoutError:
                message = f'Pattern "{_cut(pattern.pattern)}" was given up after {self._timeout_s:g} s'
                return Score.ungraded(f"{message}: it backtracks too much on this output; make it simpler")
        total = len(self._patterns)
        right = total - len(wrong)
        if not wrong:
            return Score.passed()
        shown = ", ".join(f'"{_cut(pattern)}"' for pattern in wrong[:_SHOWN_PATTERNS])
        more = f" and {len(wrong) - _SHOWN_PATTERNS} more" if len(wrong) > _SHOWN_PATTERNS else ""
        reason = "Patterns found that may not be there" if self._absent else "Patterns not found"
        count = f"{right}/{total} {'absent' if self._absent else 'matched'}"
        names = ("found", "absent") if self._absent else ("missing", "matched")
        evidence: dict[str, JsonValue] = {names[0]: tuple(wrong), names[1]: right, "total": total}
        got = "" if self._absent else f', got "{_cut(" ".join(text.split()))}"'
        return Score.failed(f"{reason}: {shown}{more} ({count}){got}", value=right / total, evidence=evidence)

    async def _is_found(self, pattern: regex.Pattern[str], text: str) -> bool:
        """Raises `TimeoutError` if that cannot be told in time."""
        try:
            return pattern.search(text, timeout=min(_AT_ONCE_S, self._timeout_s)) is not None
        except TimeoutError:
            # Searching lets other threads work, so the run goes on meanwhile.
            match = await asyncio.to_thread(pattern.search, text, timeout=self._timeout_s, concurrent=True)
            return match is not None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
