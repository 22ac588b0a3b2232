"""Keywords in a text."""

from __future__ import annotations

from skillgauge.api import EventKind, Score, ScoreContext

from .options import ContainsOptions, Stream

_SHOWN_KEYWORDS = 20
_SHOWN = 100


class ContainsScorer:
    """Passes an output that contains all keywords, or none of them; its value is the share for which that holds.

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
        texts = self._texts(context)
        if None in texts.values():
            return Score.ungraded(f"What was called does not tell its {' and '.join(texts)}")
        folded = [self._folded(text) for text in texts.values() if text is not None]
        found = [any(self._folded(keyword) in text for text in folded) for keyword in keywords]
        absent = self._options.absent
        wrong = tuple(keyword for keyword, is_there in zip(keywords, found, strict=True) if is_there is absent)
        if not wrong:
            return Score.passed()
        matched = len(keywords) - len(wrong)
        shown = ", ".join(f'"{_cut(keyword)}"' for keyword in wrong[:_SHOWN_KEYWORDS])
        more = f" and {len(wrong) - _SHOWN_KEYWORDS} more" if len(wrong) > _SHOWN_KEYWORDS else ""
        where = "" if self._options.stream is Stream.ANSWER else f" in {' or '.join(texts)}"
        what = f"Keywords that must not be there{where}" if absent else f"Missing keywords{where}"
        counted = f"{matched}/{len(keywords)} {'absent' if absent else 'matched'}"
        return Score.failed(
            f"{what}: {shown}{more} ({counted})",
            value=matched / len(keywords),
            evidence={"found" if absent else "missing": wrong, "matched": matched, "total": len(keywords)},
        )

    def _texts(self, context: ScoreContext) -> dict[str, str | None]:
        """What is searched, by name; `None` where nobody knows it."""
        execution = context.execution
        match self._options.stream:
            case Stream.ANSWER:
                return {"answer": context.answer.text}
            case Stream.STDOUT:
                return {"stdout": execution.stdout}
            case Stream.STDERR:
                return {"stderr": execution.stderr}
            case Stream.BOTH:
                return {"stdout": execution.stdout, "stderr": execution.stderr}
            case Stream.MESSAGES:
                events = execution.trajectory.events if execution.trajectory else ()
                said = [event.text for event in events if event.kind is EventKind.MESSAGE]
                return {"messages": "\n".join([*said, *([execution.text] if execution.text else [])])}

    def _folded(self, text: str) -> str:
        return text if self._options.case_sensitive else text.lower()


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
