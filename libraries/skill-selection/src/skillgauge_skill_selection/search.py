"""The skills that a user asks for, and the fit of each.

Pure. A word fits where it occurs as text, whatever the case of its letters. The better the place, the better the fit:
id or name before tags before description, and in each a word of its own before a part of one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from .catalogue import Candidate

_WORD_FROM, _WORD_TO = r"(?<![^\W_])", r"(?![^\W_])"
"""Where a word begins and ends: no letter or digit stands before or behind it."""


def has_tags(candidate: Candidate, tags: Sequence[str]) -> bool:
    """Tell whether a skill has all of some tags, spelt exactly so."""
    return set(tags) <= set(candidate.tags)


def relevance(candidate: Candidate, query: str) -> tuple[int, int] | None:
    """Rate the fit of a skill to a query, smaller is better; `None` if a word of the query occurs nowhere in it.

    First counts whether id or name is the whole query, then the sum over its words of the place in which each fits
    best: 0 a word of id or name, 1 a part of one, 2 and 3 the same for the tags, 4 and 5 for the description.

    Args:
        candidate: the skill.
        query: words with blanks between them; without a word it fits everything alike.
    """
    words = _folded(query).split()
    names = [_folded(candidate.id), _folded(candidate.name)]
    fields = (names, [_folded(tag) for tag in candidate.tags], [_folded(candidate.description)])
    levels = [_level(word, fields) for word in words]
    if None in levels:
        return None
    return int(" ".join(words) not in names), sum(level for level in levels if level is not None)


def ranked(
    candidates: Iterable[Candidate], query: str, rate_of: Callable[[Candidate], float | None]
) -> tuple[Candidate, ...]:
    """The skills that fit a query, best first.

    Of two that fit alike, the one with the higher completion rate goes first, an unknown rate last; then ids decide.

    Args:
        candidates: in any order; it does not matter for the answer unless ids are equal.
        query: as for `relevance`.
        rate_of: the best known completion rate of a skill.
    """
    keyed = []
    for candidate in candidates:
        fit = relevance(candidate, query)
        if fit is not None:
            rate = rate_of(candidate)
            keyed.append(((*fit, rate is None, -(rate or 0), candidate.id), candidate))
    return tuple(candidate for _, candidate in sorted(keyed, key=lambda one: one[0]))


def _level(word: str, fields: Iterable[Sequence[str]]) -> int | None:
    """The place in which a word fits best."""
    whole = re.compile(f"{_WORD_FROM}{re.escape(word)}{_WORD_TO}")
    for level, texts in enumerate(fields):
        if any(whole.search(text) for text in texts):
            return 2 * level
        if any(word in text for text in texts):
            return 2 * level + 1
    return None


def _folded(text: str) -> str:
    """Text in the one spelling in which texts are compared."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
