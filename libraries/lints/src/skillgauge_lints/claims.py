"""The demands that a claim makes on a judge, as far as its words show them. Pure."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[.;!?]\s+(?=[A-Z])|;\s+|\n\s*[-*\d]")
_VERBS = (
    "is|are|has|have|does|contains?|includes?|mentions?|states?|uses?|lists?|names?|shows?|explains?|provides?|"
    "asks?|avoids?|creates?|writes?|returns?|adds?|removes?|recommends?|suggests?|identif(?:y|ies)|flags?|must|should"
)
_SECOND = re.compile(rf"\band\s+(?:also\s+|then\s+)?(?:does not |do not |it )?(?:{_VERBS})\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^)]*\)|\"[^\"]*\"|`[^`]*`|'[^']*'|\b(?:e\.g|i\.e|etc|vs)\.")
MOST_WORDS = 12
"""An expected answer of more words is hardly given word for word."""


def is_several(claim: str) -> bool:
    """Tell whether a claim is more than one, of which a judge has to find all true."""
    text = _ASIDE.sub("_", claim.strip().rstrip(".;!?"))
    return bool(_SENTENCE.search(text)) or bool(_SECOND.search(text))


def is_prose(text: str) -> bool:
    """Tell whether a text is prose rather than a value that could be given word for word."""
    return len(text.split()) > MOST_WORDS and "\n" not in text.strip() and not re.search(r"[{}<>=|]|\d{4}", text)
