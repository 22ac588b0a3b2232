"""An answer and its text: decided here once, with the habits of each format as data."""

import json
from typing import NoReturn

from skillgauge_documents import JsonValue, TextStyle, freeze, text_of
from skillgauge_documents.frozen import Frozen, once
from skillgauge_documents.immutables import immutable


class AnswerStyle(Frozen):
    """The way in which a format reads an answer."""

    keys: tuple[str, ...] = ()
    """Of an answer that is an object, the first of these keys that it has holds what was answered."""
    text: TextStyle = TextStyle.JSON

    @once
    def marks(self) -> tuple[JsonValue, ...]:
        """The part of a style that enters an id; nothing of the plain one."""
        return () if self == PLAIN else (freeze(self.model_dump(mode="json")),)


PLAIN = AnswerStyle.model_construct()


@immutable
class Answer:
    """An answer: the output of a direct call, else the final text of an agent."""

    value: JsonValue
    """`None` if nothing was answered, or null."""
    style: TextStyle = TextStyle.JSON

    @property
    def text(self) -> str:
        """The value as text; that of no answer is empty, unless the style says otherwise."""
        return "" if self.value is None and self.style is TextStyle.JSON else text_of(self.value, self.style)

    def as_json(self) -> JsonValue:
        """The value, read as JSON if it is text.

        Raises:
            ValueError: the text is not JSON.
            RecursionError: it is nested too deeply.
        """
        value = self.value
        return freeze(json.loads(value, parse_constant=_refuse)) if isinstance(value, str) else value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
