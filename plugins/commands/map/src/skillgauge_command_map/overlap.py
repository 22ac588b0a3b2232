"""The likeness of names and descriptions of skills, which chooses the pairs that are worth a session.

Words are weighted by how few skills of the catalogue use them (tf-idf), and two texts are as alike as the cosine of
their weights. An agent chooses by these texts, so skills that share rare words are the ones that it can confuse. The
measure decides nothing: it puts pairs on a list, and sessions decide.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"[^\W\d_]{2,}")
_PART = re.compile(r"[^\W_]+")
_ENDINGS = (("s",), ("ing", "ed", "e"))
"""One of each group is cut off, in this order."""
_SHORTEST = 3
"""Characters that are left of a word without its ending."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without usual English endings."""
    return [_stem(word) for word in _WORD.findall(text.casefold())]


def _stem(word: str) -> str:
    for endings in _ENDINGS:
        ending = next((one for one in endings if word.endswith(one) and len(word) - len(one) >= _SHORTEST), "")
        word = word.removesuffix(ending)
    return f"{word[:-1]}i" if word.endswith("y") else word


class Likeness:
    """The likeness of any two texts of a collection.

    Args:
        texts: by name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        counts = {name: Counter(words_of(text)) for name, text in texts.items()}
        used_by = Counter(word for words in counts.values() for word in words)
        self._weights = {name: _normed(words, used_by, len(counts)) for name, words in counts.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the texts, in their order."""
        return tuple(self._weights)

    def of(self, first: str, second: str) -> float:
        """Return the likeness of two texts by their names: from 0, no word in common, to 1, the same words."""
        ours, theirs = self._weights[first], self._weights[second]
        return min(1.0, math.fsum(weight * theirs.get(word, 0.0) for word, weight in ours.items()))

    def pairs(self, least: float) -> list[tuple[str, str, float]]:
        """Return every two names whose texts are at least so alike, the most alike first."""
        names = sorted(self._weights)
        alike = (
            (first, second, self.of(first, second)) for place, first in enumerate(names) for second in names[:place]
        )
        return sorted((pair for pair in alike if pair[2] >= least), key=lambda pair: (-pair[2], pair[:2]))


def _normed(counts: Mapping[str, int], used_by: Mapping[str, int], texts: int) -> dict[str, float]:
    weights = {word: (1 + math.log(count)) * math.log(1 + texts / used_by[word]) for word, count in counts.items()}
    length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def shared_words(names: Sequence[str]) -> float:
    """Return the share of the words of two names that both have, 0 to 1."""
    first, second = (frozenset(_parts(name)) for name in names)
    return len(first & second) / len(first | second) if first | second else 0.0


def _parts(name: str) -> Iterable[str]:
    """Return the words of a name; a number is one, since it tells `convert-1` from `convert-2`."""
    return map(_stem, _PART.findall(name.casefold()))
