"""The changelog covers this version, and the fragments in changelog.d can be put together by a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pages
import reference
from members import ROOT, read

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|fixed|removed)\.md")
SECTION_LIMIT = 150


def test_fragments_have_a_name_and_a_sentence() -> None:
    """A fragment is named `<slug>.<kind>.md` and holds one or two sentences in a single paragraph."""
    for fragment in (ROOT / "changelog.d").iterdir():
        if fragment.name != "README.md":
            text = fragment.read_text(encoding="utf-8").strip()
            assert NAME.fullmatch(fragment.name), fragment.name
            assert text.endswith("."), fragment.name
            assert "\n\n" not in text, fragment.name


def test_the_changelog_has_a_readable_section_for_this_version() -> None:
    """The first section is about the version in the repository, and it fits a few screens."""
    first = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert first.partition(" ")[0] == read(ROOT / "core").version
    assert len(first.splitlines()) <= SECTION_LIMIT


def test_every_entry_of_the_changelog_stands_once() -> None:
    """No entry is repeated within a release."""
    for section in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        entries = re.findall(r"^- .*", section, re.MULTILINE)
        assert entries
        assert len(entries) == len(set(entries))


def test_options_and_commands_of_the_first_section_exist() -> None:
    """A user can try what the changelog names: its options are options, and its list of commands is complete."""
    first = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    commands = reference.commands()
    options = {name for command in commands for option in command.options() for name in option.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", first))
    assert named
    assert named - options == set()
    listed = set(re.findall(r"`([a-z]+)`", first.partition("### Commands\n")[2].partition("\n- Every command")[0]))
    assert listed == {command.name.split()[1] for command in commands if len(command.name.split()) > 1}


def test_the_page_of_changes_adds_fragments_by_kind(tmp_path: Path) -> None:
    """Kinds without a fragment have no heading, and without any fragment the page is the changelog alone."""
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    (tmp_path / "changelog.d").mkdir()
    assert pages.changes(tmp_path) == "# Changelog\n"
    (tmp_path / "changelog.d/shorter-waits.fixed.md").write_text("Waits are\nshorter.\n", encoding="utf-8")
    assert pages.changes(tmp_path) == (
        "# Changelog\n\n## Newest changes (unreleased)\n\n### Fixed\n\n- Waits are shorter.\n"
    )
