"""JSON values: read strictly from JSON and YAML, with the line of anything in them, immutable, and as text.

Strictly: one document, UTF-8, JSON values only, no key twice, bounded size and depth. What a file says wrongly is
raised as `DocumentError` with exact places. The values themselves carry no lines: most files are right, so a place is
looked up by scanning the file again when somebody asks for it.
"""

from .faults import MAX_DEPTH, DocumentError, Fault, Pointer, Step
from .places import places
from .reading import MAX_BYTES, Kind, parse, read, read_text
from .values import EMPTY, FrozenDict, JsonValue, freeze, texts_in, thaw
from .writing import TextStyle, text_of

__all__ = [
    "EMPTY",
    "MAX_BYTES",
    "MAX_DEPTH",
    "DocumentError",
    "Fault",
    "FrozenDict",
    "JsonValue",
    "Kind",
    "Pointer",
    "Step",
    "TextStyle",
    "freeze",
    "parse",
    "places",
    "read",
    "read_text",
    "text_of",
    "texts_in",
    "thaw",
]
