"""Keywords in a text."""

from __future__ import annotations

from collections.abc import Sequence

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
        wrong = self._wrong(keywords, [text for text in texts.values() if text is not None])
        if not wrong:
            return Score.passed()
        got = " and ".join(f'"{_cut(" ".join(text.split()))}"' for text in texts.values() if text is not None)
        return self._failed(wrong, " or ".join(texts), got)

    def _wrong(self, keywords: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
        """Return the keywords that are missing, or those that are there although they must not be."""
        folded = [self._folded(text) for text in texts]
        wrong = []
        for keyword in keywords:
            wanted = self._folded(keyword)
            is_there = any(wanted in text for text in folded)
            if is_there is self._options.absent:
                wrong.append(keyword)
        return tuple(wrong)

    def _failed(self, wrong: tuple[str, ...], searched: str, got: str) -> Score:
        """Return the score of an output with some wrong keywords; `searched` names the texts, and `got` quotes them."""
        absent, total = self._options.absent, len(self._options.keywords)
        matched = total - len(wrong)
        shown = ", ".join(f'"{_cut(keyword)}"' for keyword in wrong[:_SHOWN_KEYWORDS])
        if len(wrong) > _SHOWN_KEYWORDS:
            shown += f" and {len(wrong) - _SHOWN_KEYWORDS} more"
        where = "" if self._options.stream is Stream.ANSWER else f" in {searched}"
        if absent:
            key, reason = "found", f"Keywords that must not be there{where}: {shown} ({matched}/{total} absent)"
        else:
            key, reason = "missing", f"Missing keywords{where}: {shown} ({matched}/{total} matched), got {got}"
        return Score.failed(reason, value=matched / total, evidence={key: wrong, "matched": matched, "total": total})

    def _texts(self, context: ScoreContext) -> dict[str, str | None]:
        """Return the texts to search, by name; `None` where one is unknown."""
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
                messages = [event.text for event in events if event.kind is EventKind.MESSAGE]
                if execution.text:
                    messages.append(execution.text)
                return {"messages": "\n".join(messages)}

    def _folded(self, text: str) -> str:
        return text if self._options.case_sensitive else text.lower()


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text) - _SHOWN} more characters)"
