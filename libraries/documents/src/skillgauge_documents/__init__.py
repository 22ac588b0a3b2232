"""Read JSON and YAML source files strictly, and find the line of anything in them.

Strictly: one document, UTF-8, JSON values only, no key twice, bounded size and depth. What a file says wrongly is
raised as `DocumentError` with exact places. The values themselves carry no lines: most files are right, so a place is
looked up by scanning the file again when somebody asks for it.
"""

from .faults import MAX_DEPTH, DocumentError, Fault, Pointer, Step
from .places import places
from .reading import MAX_BYTES, Kind, checked, parse, read, read_text

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "DocumentError",
    "Fault",
    "Kind",
    "Pointer",
    "Step",
    "checked",
    "parse",
    "places",
    "read",
    "read_text",
]
