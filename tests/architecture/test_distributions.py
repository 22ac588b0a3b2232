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
from members import KINDS, ROOT, foundations, libraries, plugins, read, workspace

BUNDLE, CORE = read(ROOT), read(ROOT / "core")
CORE_RANGE = SpecifierSet(">=0.1,<0.2")


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


def test_bundle_and_core_declare_the_same_command() -> None:
    """Tools take commands from the distribution that the user names, and a minimal installation has the core alone."""
    scripts = BUNDLE.pyproject["project"]["scripts"]
    assert scripts == CORE.pyproject["project"]["scripts"] == {"skillgauge": "skillgauge.__main__:main"}
    owners = [member.name for member in workspace() if "scripts" in member.pyproject["project"]]
    assert sorted(owners) == [BUNDLE.name, CORE.name]


def test_member_says_what_every_member_says(subtests: pytest.Subtests) -> None:
    """Version, README, licence and oldest Python are stated, the last two alike everywhere."""
    for member in workspace():
        with subtests.test(member=member.name):
            project = member.pyproject["project"]
            assert member.version
            assert project["readme"] == "README.md"
            assert (member.folder / "README.md").read_text(encoding="utf-8").startswith(f"# {member.name}\n")
            assert project["license"] == "Apache-2.0"
            assert project["requires-python"] == ">=3.11"


def test_member_is_typed_and_tested(subtests: pytest.Subtests) -> None:
    """A distribution with code has its one module below `src/`, the mark that it is typed, and tests."""
    for member in [*foundations(), CORE, *libraries(), *plugins()]:
        with subtests.test(member=member.name):
            source = member.folder / "src"
            packages = sorted(path.name for path in source.iterdir() if (path / "__init__.py").exists())
            assert packages == [member.module]
            assert (source / member.module / "py.typed").exists()
            assert list((member.folder / "tests").rglob("test_*.py"))


def test_core_says_its_version() -> None:
    """The version that the core prints is the one that it is released as."""
    assert skillgauge.__version__ == CORE.version


def test_plugin_is_named_after_its_place(subtests: pytest.Subtests) -> None:
    """Folder, distribution, module and entry-point group follow from kind and name; several plugins have the kind's."""
    for member in plugins():
        with subtests.test(member=member.name):
            kind, name = member.folder.parent.name, member.folder.name
            assert kind in KINDS
            announced = member.pyproject["project"]["entry-points"][f"skillgauge.{kind}"]
            if member.name == f"skillgauge-{kind}":
                assert len(announced) > 1
            else:
                assert announced
                assert member.name == f"skillgauge-{KINDS[kind]}-{name}"
            assert member.module == member.name.replace("-", "_")


def test_plugin_requires_the_core_and_no_other_plugin(subtests: pytest.Subtests) -> None:
    """It pins the range of cores and libraries that it was written for, and works without any plugin."""
    for member in [*libraries(), *plugins()]:
        with subtests.test(member=member.name):
            wanted = {one.name: one.specifier for one in members_in(member.requirements)}
            assert wanted[CORE.name] == CORE_RANGE
            assert set(wanted.values()) == {CORE_RANGE}
            assert CORE_RANGE.contains(CORE.version)
            shared = {library.name for library in libraries()}
            assert set(wanted) - shared == {CORE.name}


def test_the_core_stands_on_libraries_without_members() -> None:
    """What the core requires of the workspace requires none of it, and is pinned to the range of its time."""
    assert [member.name for member in foundations()] == ["skillgauge-documents"]
    assert {one.name: one.specifier for one in members_in(CORE.requirements)} == {"skillgauge-documents": CORE_RANGE}
    for member in foundations():
        assert members_in(member.requirements) == []


def test_bundle_takes_every_compatible_member() -> None:
    """A member can be mended without a release of the others (R3-F6)."""
    assert {wanted.specifier for wanted in members_in(BUNDLE.requirements)} == {CORE_RANGE}


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


@pytest.mark.requirement("SE-RUN-001")
def test_one_name_installs_all_but_what_is_large_or_needs_a_service() -> None:
    """Agents, judges, all formats and the reporters for CI come without an extra (R3-F5)."""
    project = BUNDLE.pyproject["project"]
    default = {wanted.name for wanted in members_in(project["dependencies"])}
    extras = {
        "skillgauge-adapter-langchain",
        "skillgauge-adapter-mcp",
        "skillgauge-command-mcp",
        "skillgauge-executor-dask",
        "skillgauge-extension-otel",
        "skillgauge-sandbox-docker",
        "skillgauge-store-postgres",
    }
    assert {plugin.name for plugin in plugins()} - default == extras
    assert {wanted.name for wanted in members_in(project["optional-dependencies"]["all"])} - extras == {
        "skillgauge-frames",
        "skillgauge-plots",
        "skillgauge-testkit",
    }
    assert "rich" in {Requirement(text).name for text in project["dependencies"]}
