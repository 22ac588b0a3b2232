"""Read JSON and YAML source files, and find the line of anything in them.

Reading is strict: one document, UTF-8, JSON values only, no key twice, bounded size and depth. What a file says
wrongly is raised as `SuiteError` with exact places. The values themselves carry no lines: most files are right, so
a place is looked up by scanning the file again when a problem about it is shown.

Nothing here knows what a document means; formats do.
"""

from .places import locate, located, located_all
from .reading import MAX_BYTES, Document, Kind, parse_document, read_document
from .validation import validate
from .yaml_text import MAX_ALIASED

__all__ = [
    "MAX_ALIASED",
    "MAX_BYTES",
    "Document",
    "Kind",
    "locate",
    "located",
    "located_all",
    "parse_document",
    "read_document",
    "validate",
]
