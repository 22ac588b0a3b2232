"""Documents of results: one's own, somebody else's, and one's own that was damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from skillgauge.api import Document, JsonValue, SuiteError
from skillgauge_validation import result_document


def opened(path: Path) -> Document | None:
    """A document with `lifts`."""

    def is_own(value: JsonValue) -> bool:
        return isinstance(value, Mapping) and "lifts" in value

    return result_document(
        path, is_own=is_own, was_own=lambda beginning: beginning.startswith(b"{") and b'"lifts"' in beginning
    )


def test_ones_own_and_others(tmp_path: Path) -> None:
    """Only what is one's own is opened; a folder and an absent file are none."""
    own, other, text = (tmp_path / name for name in ("own.json", "other.json", "text.json"))
    own.write_text('{"lifts": []}')
    other.write_text('{"cases": []}')
    text.write_text("unrelated")
    found = opened(own)
    assert found is not None
    assert found.value == {"lifts": ()}
    assert [opened(path) for path in (other, text, tmp_path, tmp_path / "absent.json")] == [None] * 4


@pytest.mark.parametrize("before", ["", "\ufeff", "\n  "])
def test_what_was_damaged_is_told(tmp_path: Path, before: str) -> None:
    """A document that was one's own is not passed over as if it were anybody's."""
    path = tmp_path / "cut.json"
    path.write_text(before + '{"lifts": [', encoding="utf-8")
    with pytest.raises(SuiteError):
        opened(path)
