"""Numbers as people read them, and text from outside that cannot change what a terminal shows."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from skillgauge.api import ScoreStatus, TrialResult

LINE = 200
"""Characters of an id, a name or a reason that are shown."""

# Controls (escape sequences begin with one), direction overrides, blanks of no width, tag characters, halves of
# surrogate pairs. What joins letters (U+200C, U+200D) stays: names in some scripts need it.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(value: str, limit: int = LINE) -> str:
    """Text from outside as one line without invisible characters, cut if it is long.

    Args:
        value: any text.
        limit: most characters of the answer, at least 1.
    """
    line = _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"[\t\n\r]+", " ", value)).strip()
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def percent(share: float | None) -> str:
    """A share from 0 to 1 as percent with one decimal; a dash if unknown."""
    return "–" if share is None else f"{share * 100:.1f}%"


def duration(seconds: float | None) -> str:
    """Milliseconds below a second, else seconds with one decimal; a dash if unknown."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def moment(seconds: float) -> str:
    """Date and time in UTC, without fractions, of a number of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counted(count: int, what: str) -> str:
    """A number of things: `1 task`, `2 tasks`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def reason(result: TrialResult) -> str:
    """Why a trial did not pass, as the run tells it; empty if it did."""
    failure = result.execution.failure
    if failure:
        return f"{failure.failure_class}: {failure.message}"
    return "; ".join(
        score.reason or f"check {score.check_id} {score.status}"
        for score in result.scores
        if score.status is not ScoreStatus.PASSED
    )
