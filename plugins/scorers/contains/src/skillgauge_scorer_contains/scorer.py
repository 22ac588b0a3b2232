"""Keywords in a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skillgauge.api import Execution, JsonValue, Score, ScoreContext

from .options import ContainsOptions

_SHOWN_KEYWORDS = 20
_SHOWN = 100


class ContainsScorer:
    """Passes an output that contains all keywords; its value is the share that it contains.

    Text is searched as it is, anything else as compact JSON, so that keys count too.
    """

    version = "1"

    def __init__(self, options: ContainsOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Search for each keyword."""
        keywords = self._options.keywords
        if not keywords:
            return Score.passed("No keywords to check")
        text = self._folded(_text(context.execution))
        missing = tuple(keyword for keyword in keywords if self._folded(keyword) not in text)
        matched = len(keywords) - len(missing)
        if not missing:
            return Score.passed()
        shown = ", ".join(f'"{_cut(keyword)}"' for keyword in missing[:_SHOWN_KEYWORDS])
        more = f" and {len(missing) - _SHOWN_KEYWORDS} more" if len(missing) > _SHOWN_KEYWORDS else ""
        return Score.failed(
            f"Missing keywords: {shown}{more} ({matched}/{len(keywords)} matched)",
            value=matched / len(keywords),
            evidence={"missing": missing, "matched": matched, "total": len(keywords)},
        )

    def _folded(self, text: str) -> str:
        return text if self._options.case_sensitive else text.lower()


def _text(execution: Execution) -> str:
    """What is searched: the output of a direct call, else the text of an agent."""
    output = execution.output
    if output is None and execution.text is not None:
        return execution.text
    if isinstance(output, str):
        return output
    return json.dumps(_as_javascript(output), ensure_ascii=False, separators=(",", ":"))


def _as_javascript(value: JsonValue) -> Any:
    """The value with whole numbers as JavaScript writes them: 25.0 as 25."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _as_javascript(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_as_javascript(item) for item in value]
    return value


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
