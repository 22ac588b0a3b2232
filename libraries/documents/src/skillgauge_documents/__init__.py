"""JSON values: read strictly from JSON and YAML, with the line of anything in them, immutable, and as text.

Strictly: one document, UTF-8, JSON values only, no key twice, bounded size and depth. What a file says wrongly is
raised as `DocumentError` with exact places. The values themselves carry no lines: most files are right, so a place is
looked up by scanning the file again when somebody asks for it.

What is named here is imported when it is first used: `skillgauge_documents.characters` is part of every start of a
program that reads no document.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .changes import Change as Change
    from .changes import changed_texts as changed_texts
    from .changes import differences as differences
    from .digests import canonical_json as canonical_json
    from .digests import digest as digest
    from .digests import digest_text as digest_text
    from .faults import MAX_DEPTH as MAX_DEPTH
    from .faults import DocumentError as DocumentError
    from .faults import Fault as Fault
    from .faults import Pointer as Pointer
    from .faults import Step as Step
    from .locating import cut_texts as cut_texts
    from .locating import places as places
    from .reading import MAX_BYTES as MAX_BYTES
    from .reading import Kind as Kind
    from .reading import parse as parse
    from .reading import read as read
    from .reading import read_text as read_text
    from .reading import reading_once as reading_once
    from .values import EMPTY as EMPTY
    from .values import FrozenDict as FrozenDict
    from .values import JsonValue as JsonValue
    from .values import freeze as freeze
    from .values import freeze_object as freeze_object
    from .values import texts_in as texts_in
    from .values import thaw as thaw
    from .writing import TextStyle as TextStyle
    from .writing import text_of as text_of

_HOMES = {
    "changes": ("Change", "changed_texts", "differences"),
    "digests": ("canonical_json", "digest", "digest_text"),
    "faults": ("MAX_DEPTH", "DocumentError", "Fault", "Pointer", "Step"),
    "locating": ("cut_texts", "places"),
    "reading": ("MAX_BYTES", "Kind", "parse", "read", "read_text", "reading_once"),
    "values": ("EMPTY", "FrozenDict", "JsonValue", "freeze", "freeze_object", "texts_in", "thaw"),
    "writing": ("TextStyle", "text_of"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
