"""The checks of `expect`: those of all cases and those of one, joined as skill-up does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from skillgauge.api import JsonValue, Origin

from .drafts import CONTAINS, EXACT, FILES, Draft
from .files import ContentFile, ExpectFile
from .reading import Pointer, Reading


class Expected(NamedTuple):
    """An `expect`, and where it stands."""

    file: ExpectFile
    reading: Reading
    place: Pointer

    def origin(self, key: str) -> Origin:
        """The place of a key."""
        return self.reading.document.origin(*self.place, key)


class _Item(NamedTuple):
    """An item of one of the lists."""

    path_or_text: str
    content: str
    """Of `file_contains`, else empty."""
    source: Expected
    place: Pointer

    @property
    def origin(self) -> Origin:
        return self.source.reading.document.origin(*self.place)


def expectations(common: Expected, own: Expected) -> Iterator[Draft]:
    """Yield the checks of a case: lists are joined, and of single values those of the case hold.

    Args:
        common: `cases.defaults.expect`.
        own: that of the case.
    """
    for key, is_absent in (("must_contain", False), ("must_not_contain", True)):
        items = _items(key, common, own)
        if items:
            texts = tuple(item.path_or_text for item in items)
            origin = items[-1].source.origin(key)
            yield Draft(CONTAINS, texts_options(texts, is_absent=is_absent), origin)
    for key, state in (("files_exist", "present"), ("files_not_exist", "absent")):
        for item in _items(key, common, own):
            if stays_inside(item.source.reading, item.path_or_text, *item.place):
                yield Draft(FILES, {"path": item.path_or_text, "state": state}, item.origin)
    for item in _items("file_contains", common, own):
        if stays_inside(item.source.reading, item.path_or_text, *item.place, "path"):
            yield Draft(FILES, {"path": item.path_or_text, "contains": (item.content,)}, item.origin)
    yield from _golden(own if own.file.golden_file is not None else common)
    _exit_code(own if own.file.exit_code is not None else common)


def texts_options(texts: tuple[str, ...], *, is_absent: bool) -> dict[str, JsonValue]:
    """Return the options of a check for texts, upper and lower case as they are written."""
    options: dict[str, JsonValue] = {"keywords": texts, "case_sensitive": True}
    return options | ({"absent": True} if is_absent else {})


def stays_inside(reading: Reading, path: str, *pointer: str | int) -> bool:
    """Tell whether a path is that of one file of the workspace; if it is not, that is a problem."""
    if path.startswith("/") or ".." in path.split("/") or "\\" in path:
        hint = "Give a path from the workspace."
        reading.refuse(f"{path!r} does not stay inside the workspace", *pointer, hint=hint)
    elif any(sign in path for sign in "*?["):
        hint = "Name one file."
        reading.refuse(f"{path!r} would be a pattern here, and is one file in skill-up", *pointer, hint=hint)
    elif path.endswith("/"):
        hint = "Name a file in it."
        reading.refuse(f"{path!r} is a folder, and only files are looked for", *pointer, hint=hint)
    else:
        return True
    return False


def check_exit_code(reading: Reading, code: int, *pointer: str | int) -> None:
    """Honour the exit code of a session: graded is one that ended well, so that 0 always holds."""
    if code:
        hint = "Take it out: a session that ends badly is an error here, and is not graded."
        reading.refuse(f"exit_code {code} cannot be expected of a session", *pointer, hint=hint)
    else:
        reading.tell("exit_code 0 holds for every session that is graded: one that ends badly is an error", *pointer)


def _items(key: str, *sources: Expected) -> list[_Item]:
    """The items of a list in both files, each once."""
    items: dict[tuple[str, str], _Item] = {}
    for source in sources:
        for number, entry in enumerate(getattr(source.file, key)):
            first, content = (entry.path, entry.content) if isinstance(entry, ContentFile) else (entry, "")
            items.setdefault((first, content), _Item(first, content, source, (*source.place, key, number)))
    return list(items.values())


def _golden(source: Expected) -> Iterator[Draft]:
    written, place = source.file.golden_file, (*source.place, "golden_file")
    path = source.reading.place(written, *place) if written is not None else None
    if path is not None:
        yield Draft(EXACT, {"value": source.reading.text(path, *place)}, source.origin("golden_file"))


def _exit_code(source: Expected) -> None:
    if source.file.exit_code is not None:
        check_exit_code(source.reading, source.file.exit_code, *source.place, "exit_code")
