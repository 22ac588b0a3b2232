"""The texts that a judge was shown of what it judges."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .hiding import readings, visible
from .signs import signs_in

_LONGEST_PLACEHOLDER = 80
"""Letters that stand for the marker in an answer that an output dictates."""


@dataclass(frozen=True)
class Exhibits:
    """Texts under judgement: a judge may quote them, and they may speak to it."""

    texts: Mapping[str, str]
    """By the name of the part of the question in which they stand."""

    @cached_property
    def passages(self) -> tuple[str, ...]:
        """The texts in the form in which quotations are looked for."""
        return tuple(map(folded, self.texts.values()))

    @cached_property
    def signs(self) -> Mapping[str, tuple[str, ...]]:
        """The signs that a text speaks to a judge, by the name of its part; parts without a sign are left out."""
        signs = {name: signs_in(text) for name, text in self.texts.items()}
        return {name: phrases for name, phrases in signs.items() if phrases}

    def dictate(self, answer: Mapping[str, object], marker: str) -> bool:
        """Tell whether an answer, or one of its parts, stands in the texts, in the open or in hiding.

        Marks and blanks do not count, nor does the text in the place of the marker, which nobody outside knows.
        """
        head, _, rest = _letters(json.dumps(answer, ensure_ascii=False)).partition(_letters(marker))
        parts = [_letters(json.dumps(part, ensure_ascii=False)) for part in _parts_with_text(answer)]
        return any(_stand_in(copy, head, rest) or any(part in copy for part in parts) for copy in self._copies)

    @cached_property
    def _copies(self) -> tuple[str, ...]:
        """All that a model may make out in the texts, as letters and digits alone."""
        return tuple(_letters(content) for text in self.texts.values() for _, content in readings(text))


def folded(text: str) -> str:
    """A text whose blanks and line breaks are all alike, as models copy them."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, visible(text))).casefold()


def _stand_in(text: str, head: str, rest: str) -> bool:
    """Tell whether two texts stand in another one, the second behind the first with a placeholder between them."""
    places = re.finditer(f"(?={re.escape(head)})", text) if head in text else ()
    ends = (place.start() + len(head) for place in places)
    return any(text.find(rest, end, end + _LONGEST_PLACEHOLDER + len(rest)) >= 0 for end in ends)


def _parts_with_text(answer: Mapping[str, object]) -> Iterator[object]:
    """Yield the answer without its marker, and each entry of its lists, as far as they have words.

    Numbers alone may stand in a text by chance.
    """
    entries = [entry for value in answer.values() if isinstance(value, list) for entry in value]
    for part in ({key: value for key, value in answer.items() if key != "marker"}, *entries):
        if isinstance(part, dict) and any(isinstance(value, str) and value.strip() for value in part.values()):
            yield part
