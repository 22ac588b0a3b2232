"""The fragments in changelog.d can be put together by a machine."""

from __future__ import annotations

import re

from members import ROOT

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")


def test_fragments_have_a_name_and_a_sentence() -> None:
    """A fragment is named `<slug>.<kind>.md` and holds one or two sentences in a single paragraph."""
    for fragment in (ROOT / "changelog.d").iterdir():
        if fragment.name != "README.md":
            text = fragment.read_text(encoding="utf-8").strip()
            assert NAME.fullmatch(fragment.name), fragment.name
            assert text.endswith("."), fragment.name
            assert "\n\n" not in text, fragment.name
