"""Patterns in a text."""

from __future__ import annotations

import asyncio
from typing import Any

import regex

from skillgauge.api import JsonValue, Score, ScoreContext
from skillgauge_patterns import compiled, from_javascript

from .options import RegexOptions, Syntax
from .texts import searched_text

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
        self._patterns = [(written, compiled(_rewritten(written, options), flags)) for written in options.patterns]
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Search for each pattern."""
        text = await searched_text(self._options, context)
        if isinstance(text, Score):
            return text
        wrong: list[str] = []
        counts: list[str] = []
        for written, pattern in self._patterns:
            try:
                number = await self._matches(pattern, text)
            except TimeoutError:
                message = f'Pattern "{_cut(written)}" was given up after {self._options.timeout_s:g} s'
                return Score.ungraded(f"{message}: it backtracks too much on this output; make it simpler")
            if not self._is_right(number):
                wrong.append(written)
                counts.append(f'"{_cut(written)}" {number}')
        if not wrong:
            return Score.passed()
        return self._miscounted(wrong, counts) if self._options.counts else self._failed(wrong, text)

    def _is_right(self, number: int) -> bool:
        options = self._options
        if not options.counts:
            return (number > 0) is not options.absent
        return (options.at_least or 0) <= number and (options.at_most is None or number <= options.at_most)

    def _failed(self, wrong: list[str], text: str) -> Score:
        absent, total = self._options.absent, len(self._patterns)
        right = total - len(wrong)
        shown = ", ".join(f'"{_cut(pattern)}"' for pattern in wrong[:_SHOWN_PATTERNS])
        more = f" and {len(wrong) - _SHOWN_PATTERNS} more" if len(wrong) > _SHOWN_PATTERNS else ""
        reason = "Patterns found that may not be there" if absent else "Patterns not found"
        count = f"{right}/{total} {'absent' if absent else 'matched'}"
        names = ("found", "absent") if absent else ("missing", "matched")
        evidence: dict[str, JsonValue] = {names[0]: tuple(wrong), names[1]: right, "total": total}
        got = "" if absent else f', got "{_cut(" ".join(text.split()))}"'
        return Score.failed(f"{reason}: {shown}{more} ({count}){got}", value=right / total, evidence=evidence)

    def _miscounted(self, wrong: list[str], counts: list[str]) -> Score:
        options, total = self._options, len(self._patterns)
        bounds = [f"at least {options.at_least}"] if options.at_least is not None else []
        bounds += [f"at most {options.at_most}"] if options.at_most is not None else []
        reason = f"Matches, where {' and '.join(bounds)} were expected: {', '.join(counts[:_SHOWN_PATTERNS])}"
        return Score.failed(reason, value=1 - len(wrong) / total, evidence={"miscounted": tuple(wrong), "total": total})

    async def _matches(self, pattern: regex.Pattern[str], text: str) -> int:
        """Return how often a pattern is found, or 1 for several times where the number does not matter.

        Raises:
            TimeoutError: that cannot be told in time.
        """
        limit_s = self._options.timeout_s
        try:
            return self._found(pattern, text, timeout=min(_AT_ONCE_S, limit_s))
        except TimeoutError:
            # Searching lets other threads work, so the run goes on meanwhile.
            return await asyncio.to_thread(self._found, pattern, text, timeout=limit_s, concurrent=True)

    def _found(self, pattern: regex.Pattern[str], text: str, **how: Any) -> int:
        if not self._options.counts:
            return int(pattern.search(text, **how) is not None)
        return sum(1 for _ in pattern.finditer(text, **how))


def _rewritten(pattern: str, options: RegexOptions) -> str:
    return from_javascript(pattern, options.flags) if options.syntax is Syntax.JAVASCRIPT else pattern


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
