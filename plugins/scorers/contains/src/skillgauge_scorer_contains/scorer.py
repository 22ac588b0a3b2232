"""Keywords in a text."""

from __future__ import annotations

from skillgauge.api import Score, ScoreContext

from .options import ContainsOptions

_SHOWN_KEYWORDS = 20
_SHOWN = 100


class ContainsScorer:
    """Passes an output that contains all keywords; its value is the share that it contains.

    Text is searched as it is, anything else as JSON, so that keys count too.
    """

    version = "2"

    def __init__(self, options: ContainsOptions) -> None:
        self._options = options

    async def score(self, context: ScoreContext) -> Score:
        """Search for each keyword."""
        keywords = self._options.keywords
        if not keywords:
            return Score.passed("No keywords to check")
        text = self._folded(context.answer.text)
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


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
