"""Every member is a complete distribution with the name, the parts and the pins that its place in the tree demands."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import skillgauge
from members import KINDS, ROOT, Member, libraries, plugins, read, workspace

BUNDLE, CORE = read(ROOT), read(ROOT / "core")
CORE_RANGE = SpecifierSet(">=0.1,<0.2")

each_member = pytest.mark.parametrize("member", workspace(), ids=lambda member: member.name)
each_part = pytest.mark.parametrize("member", [CORE, *libraries(), *plugins()], ids=lambda member: member.name)
each_plugin = pytest.mark.parametrize("member", plugins(), ids=lambda member: member.name)


def members_in(requirements: list[str]) -> list[Requirement]:
    """The requirements that name a member of the workspace."""
    names = {member.name for member in workspace()}
    return [wanted for wanted in map(Requirement, requirements) if wanted.name in names]


def test_bundle_has_no_code(tmp_path: Path) -> None:
    """The wheel of `skillgauge` holds metadata only, and its sdist nothing of the repository but the project files."""
    uv = Path(sys.executable).parent / "uv"
    subprocess.run([uv, "build", "--quiet", "--offline", "-o", tmp_path, ROOT], check=True)
    stem = f"skillgauge-{BUNDLE.version}"
    with zipfile.ZipFile(tmp_path / f"{stem}-py3-none-any.whl") as wheel:
        assert {name.split("/")[0] for name in wheel.namelist()} == {f"{stem}.dist-info"}
    with tarfile.open(tmp_path / f"{stem}.tar.gz") as sdist:
        files = {member.name.removeprefix(f"{stem}/") for member in sdist if member.isfile()}
    assert files <= {"PKG-INFO", "pyproject.toml", "pyproject.toml.orig", "README.md", "LICENSE"}


@each_member
def test_member_says_what_every_member_says(member: Member) -> None:
    """Version, README, licence and oldest Python are stated, the last two alike everywhere."""
    project = member.pyproject["project"]
    assert member.version
    assert project["readme"] == "README.md"
    assert (member.folder / "README.md").read_text(encoding="utf-8").startswith(f"# {member.name}\n")
    assert project["license"] == "Apache-2.0"
    assert project["requires-python"] == ">=3.11"


@each_part
def test_member_is_typed_and_tested(member: Member) -> None:
    """A distribution with code has its one module below `src/`, the mark that it is typed, and tests."""
    source = member.folder / "src"
    packages = sorted(path.name for path in source.iterdir() if (path / "__init__.py").exists())
    assert packages == [member.module]
    assert (source / member.module / "py.typed").exists()
    assert list((member.folder / "tests").rglob("test_*.py"))


def test_core_says_its_version() -> None:
    """The version that the core prints is the one that it is released as."""
    assert skillgauge.__version__ == CORE.version


@each_plugin
def test_plugin_is_named_after_its_place(member: Member) -> None:
    """Folder, distribution, module and entry-point group of a plugin follow from its kind and name."""
    kind, name = member.folder.parent.name, member.folder.name
    assert kind in KINDS
    assert member.name == f"skillgauge-{KINDS[kind]}-{name}"
    assert member.module == member.name.replace("-", "_")
    assert member.pyproject["project"]["entry-points"][f"skillgauge.{kind}"]


@pytest.mark.parametrize("member", [*libraries(), *plugins()], ids=lambda member: member.name)
def test_plugin_requires_the_core_and_no_other_plugin(member: Member) -> None:
    """It pins the range of cores and libraries that it was written for, and works without any plugin."""
    wanted = {one.name: one.specifier for one in members_in(member.requirements)}
    assert wanted[CORE.name] == CORE_RANGE
    assert set(wanted.values()) == {CORE_RANGE}
    assert CORE_RANGE.contains(CORE.version)
    shared = {library.name for library in libraries()}
    assert set(wanted) - shared == {CORE.name}


def test_bundle_pins_members_exactly() -> None:
    """What `skillgauge` installs is the set that was released together."""
    versions = {member.name: member.version for member in workspace()}
    for wanted in members_in(BUNDLE.requirements):
        if wanted.name != BUNDLE.name:
            assert str(wanted.specifier) == f"=={versions[wanted.name]}", wanted.name


def test_extra_all_is_complete() -> None:
    """`skillgauge[all]` brings every plugin, so a new one is added to that extra."""
    project = BUNDLE.pyproject["project"]
    offered = [*project["dependencies"], *project.get("optional-dependencies", {}).get("all", [])]
    assert {plugin.name for plugin in plugins()} - {wanted.name for wanted in members_in(offered)} == set()


@pytest.mark.requirement("SE-SCHEMA-004")
def test_everything_is_under_the_apache_licence() -> None:
    """The licence text lies at the top, and every distribution names it."""
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    for member in workspace():
        assert 'license = "Apache-2.0"' in (member.folder / "pyproject.toml").read_text(), member.name
