"""requirements.lock pins what the members declare and names no place to get it from."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import sbom
from lock import LOCK, name_of, pins
from members import read, workspace

TEXT = LOCK.read_text(encoding="utf-8")
PINNED = [Requirement(pin) for pin in pins(TEXT)]


def is_pinned(text: str) -> bool:
    """Whether some entry of the lock meets the requirement `text`."""
    wanted = Requirement(text)
    return any(
        name_of(wanted.name) == name_of(pin.name)
        and wanted.specifier.contains(str(pin.specifier).removeprefix("=="), prereleases=True)
        for pin in PINNED
    )


def third_party(requirements: list[str]) -> list[str]:
    """The requirements that are not members themselves."""
    names = {member.name for member in workspace()}
    return [text for text in requirements if name_of(Requirement(text).name) not in names]


def test_lock_names_no_address() -> None:
    """Nothing in the lock says which registry or folder a package came from."""
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links", TEXT)


def test_every_entry_is_exact_and_hashed() -> None:
    """Each entry is one version with at least one SHA-256, so `--require-hashes` accepts all of it."""
    entries = re.split(r"\n(?=[a-zA-Z0-9])", TEXT.partition("\n")[2])
    assert len(entries) == len(PINNED)
    for entry in entries:
        assert re.match(r"[\w.-]+==[\w.+!]+ ", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_bill_of_materials_names_every_pin() -> None:
    """Each pin is a component with the hashes of its files, each member is one, and no two are the same."""
    components = sbom.document()["components"]
    assert len({one["bom-ref"] for one in components}) == len(components)
    members = {one.name for one in workspace() if one.name != "skillgauge"}
    assert {one["name"] for one in components} == {name_of(pin.name) for pin in PINNED} | members
    assert [one["name"] for one in components if one["name"] not in members and not one["hashes"]] == []


def test_lock_covers_what_a_member_declares(subtests: pytest.Subtests) -> None:
    """Each third-party requirement, of extras and development groups too, is met by the lock; else run `make lock`."""
    for member in workspace():
        with subtests.test(member=member.name):
            groups = member.pyproject.get("dependency-groups", {}).values()
            declared = [*member.requirements, *(text for group in groups for text in group)]
            assert [text for text in third_party(declared) if not is_pinned(text)] == []


@pytest.mark.slow
def test_pinned_uv_builds_every_member(subtests: pytest.Subtests) -> None:
    """The locked uv and uv-build satisfy each member's build requirement, so an install needs nothing else."""
    for member in workspace():
        with subtests.test(member=member.name):
            (requirement,) = member.pyproject["build-system"]["requires"]
            assert requirement.startswith("uv_build")
            wanted = SpecifierSet(requirement.removeprefix("uv_build"))
            for name in ("uv", "uv-build"):
                (pin,) = [pin for pin in PINNED if pin.name == name]
                assert wanted.contains(str(pin.specifier).removeprefix("=="))
            assert member.pyproject["build-system"] == read(workspace()[0].folder).pyproject["build-system"]
