"""`plugins new`: what it makes is complete and valid for every kind and name, and nothing is ever half made."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from skillgauge import __version__
from skillgauge.cli.app import BUILT_IN
from skillgauge.errors import UsageError
from skillgauge.plugins.index import IndexEntry, PluginIndex
from skillgauge.plugins.kinds import KINDS
from skillgauge_testkit.scaffold import (
    LONGEST_NAME,
    SINGULAR,
    Project,
    compatible,
    new_project,
    plural_of,
    write_project,
)

EMPTY = PluginIndex()
NAMES = st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True).filter(lambda name: len(name) <= LONGEST_NAME)
TEMPLATES = Path(new_project.__code__.co_filename).with_name("templates")

each_kind = pytest.mark.parametrize("kind", SINGULAR)


def codes(error: UsageError) -> list[str]:
    """Codes of the problems."""
    return [problem.code for problem in error.problems]


class TestProject:
    """What a project consists of."""

    def test_every_kind_has_a_template(self) -> None:
        """Kinds with hooks, and commands, which have none; nothing lies there that no kind uses."""
        assert set(SINGULAR) == {*KINDS, "commands"}
        assert {path.name for path in TEMPLATES.iterdir()} == {*SINGULAR, "project"}
        assert all(path.suffix == ".in" for path in TEMPLATES.rglob("*") if path.is_file())

    @each_kind
    @settings(max_examples=10)  # each parses a whole project
    @given(name=NAMES)
    def test_files(self, kind: str, name: str) -> None:
        """Whatever the name is, paths stay inside, code compiles, and nothing is left to be filled in."""
        files = dict(Project(kind, name).files())
        module = f"src/skillgauge_{SINGULAR[kind]}_{name.replace('-', '_')}"
        assert {"pyproject.toml", "README.md", ".gitignore", f"{module}/py.typed", f"{module}/__init__.py"} <= set(
            files
        )
        assert len([path for path in files if path.startswith("tests/test_")]) >= 2
        for path, content in files.items():
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts
            assert not re.search(r"\$\{?[a-z_]+", content), path
            if path.endswith(".py"):
                tree = ast.parse(content)
                assert ast.get_docstring(tree), path

    @each_kind
    def test_pyproject(self, kind: str) -> None:
        """Names follow from kind and name, the entry point is in the kind's group, and this core is in the range."""
        files = dict(Project(kind, "acme-tone").files())
        project = tomllib.loads(files["pyproject.toml"])["project"]
        assert project["name"] == f"skillgauge-{SINGULAR[kind]}-acme-tone"
        ((group, points),) = project["entry-points"].items()
        assert group == f"skillgauge.{kind}"
        module, _, attribute = points["acme-tone"].partition(":")
        assert f"src/{module.replace('.', '/')}.py" in files
        assert attribute == ("command" if kind == "commands" else "")
        core = next(text for text in project["dependencies"] if text.startswith("skillgauge-core"))
        assert SpecifierSet(core.removeprefix("skillgauge-core")).contains(__version__, prereleases=True)
        assert project["optional-dependencies"]["test"]

    @each_kind
    def test_readme(self, kind: str) -> None:
        """It begins with the distribution's name, as those of built-in plugins do, and names the ways to try it."""
        readme = dict(Project(kind, "acme-tone").files())["README.md"]
        assert readme.startswith(f"# skillgauge-{SINGULAR[kind]}-acme-tone\n")
        assert "pip install -e '.[test]'\n    python -m pytest\n" in readme
        assert max(map(len, readme.splitlines())) <= 120

    @each_kind
    def test_the_summary_is_one_short_line(self, kind: str) -> None:
        """It fits into the table of `plugins list`."""
        project = tomllib.loads(dict(Project(kind, "x").files())["pyproject.toml"])["project"]
        assert len(project["description"]) <= 80

    def test_classes_hide_nothing_that_is_imported(self) -> None:
        """Not even for a plugin whose name is the beginning of one of our classes."""
        for kind in SINGULAR:
            for name in ("suite", "no", "directory", "load", "run", "fake", "model", "plugin", "program", "session"):
                for path, content in Project(kind, name).files():
                    if path.startswith("src/") and path.endswith(".py"):
                        assert not _twice(ast.parse(content)), (kind, name, path)

    @given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.sampled_from(["", "rc1", ".dev2"]))
    def test_range_of_cores(self, major: int, minor: int, micro: int, suffix: str) -> None:
        """It has the core at hand, and not the next one that may break what plugins use."""
        version = f"{major}.{minor}.{micro}{suffix}"
        allowed = SpecifierSet(compatible(version))
        assert allowed.contains(version, prereleases=True)
        assert not allowed.contains(f"{major + 1}.0.0")
        assert allowed.contains(f"{major}.{minor + 1}.0") is (major > 0)


def _twice(tree: ast.Module) -> set[str]:
    """Classes that are defined under a name that is also imported."""
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return imported & {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


class TestAsked:
    """What a user may ask for."""

    @each_kind
    def test_both_numbers(self, kind: str) -> None:
        """A kind is understood in plural and singular."""
        assert plural_of(kind) == plural_of(SINGULAR[kind]) == kind

    @pytest.mark.parametrize(("kind", "near"), [("scorrer", "scorer"), ("Engines", "engines"), ("sandbx", "sandbox")])
    def test_a_misspelt_kind(self, kind: str, near: str) -> None:
        """The message names what is near, the hint everything there is."""
        with pytest.raises(UsageError, match=f"did you mean .*{near}") as error:
            plural_of(kind)
        assert all(known in (error.value.problems[0].hint or "") for known in SINGULAR)

    @given(st.text())
    def test_any_name(self, name: str) -> None:
        """A name is taken as it is or refused with a reason, and what is suggested would be taken."""
        if re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", name) and len(name) <= LONGEST_NAME:
            assert new_project("scorers", name, EMPTY).name == name
            return
        with pytest.raises(UsageError) as error:
            new_project("scorers", name, EMPTY)
        assert codes(error.value) == ["usage.plugin-name"]
        near = re.search(r"did you mean (\S+)\?\)$", error.value.problems[0].message)
        if near:
            assert new_project("scorers", near[1], EMPTY).name == near[1]

    @pytest.mark.parametrize(
        ("name", "near"),
        [("Acme_Tone", "acme-tone"), ("acmeTone", "acme-tone"), ("2 fast", "fast"), ("a" * 99, "a" * LONGEST_NAME)],
    )
    def test_a_name_that_is_nearly_one(self, name: str, near: str) -> None:
        """What is meant is suggested."""
        with pytest.raises(UsageError) as error:
            new_project("scorers", name, EMPTY)
        assert f"did you mean {near}?" in error.value.problems[0].message

    def test_everything_wrong_is_said_at_once(self) -> None:
        """A bad kind does not hide a bad name."""
        with pytest.raises(UsageError) as error:
            new_project("scorrer", "Acme", EMPTY)
        assert codes(error.value) == ["usage.kind", "usage.plugin-name"]

    def test_a_name_that_is_taken(self) -> None:
        """A plugin that would clash with an installed one is not begun; the same name for another kind is fine."""
        index = PluginIndex([IndexEntry("scorers", "exact", "m.plugin", "skillgauge-scorer-exact", "1.0")])
        with pytest.raises(UsageError, match=r"already a scorer 'exact', of skillgauge-scorer-exact 1\.0"):
            new_project("scorer", "exact", index)
        assert new_project("reporter", "exact", index).kind == "reporters"

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_the_name_of_a_built_in_command(self, name: str) -> None:
        """Nobody could call a command of that name."""
        with pytest.raises(UsageError, match="of skillgauge-core"):
            new_project("commands", name, EMPTY, names=tuple(BUILT_IN))


LIMITED = """
import resource, sys
from pathlib import Path
from skillgauge_testkit.scaffold import Project, write_project
from skillgauge.errors import UsageError
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
try:
    write_project(Project("scorers", "acme-tone"), Path(sys.argv[1]))
except UsageError as error:
    print(error)
"""


class TestWriting:
    """All files or none, and never over anything."""

    def test_all_files(self, tmp_path: Path) -> None:
        """What is said to be written is there, readable for whoever may read new files, and nothing else."""
        project = Project("engines", "acme-tone")
        folder, files = write_project(project, tmp_path)
        assert folder == tmp_path / "skillgauge-engine-acme-tone"
        written = {
            path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
        }
        assert written == dict(project.files())
        assert files == tuple(sorted(written))
        assert list(tmp_path.iterdir()) == [folder]
        (tmp_path / "other").mkdir()
        assert folder.stat().st_mode == (tmp_path / "other").stat().st_mode

    def test_programs_can_be_executed(self, tmp_path: Path) -> None:
        """What begins like a program may be run by whoever may read it, and nothing else may."""
        before = os.umask(0o027)
        try:
            folder, files = write_project(Project("engines", "acme-tone"), tmp_path)
        finally:
            os.umask(before)
        modes = {file: (folder / file).stat().st_mode & 0o777 for file in files}
        assert modes.pop("tests/stand_in.py") == 0o750
        assert set(modes.values()) == {0o640}

    @pytest.mark.parametrize("there", ["folder", "empty folder", "file", "link to nowhere"])
    def test_nothing_is_overwritten(self, there: str, tmp_path: Path) -> None:
        """Whatever has the name of the project's folder stays as it is."""
        project = Project("scorers", "acme-tone")
        place = tmp_path / project.distribution
        if there == "file":
            place.write_text("mine")
        elif there == "link to nowhere":
            place.symlink_to("nowhere")
        else:
            place.mkdir()
        if there == "folder":
            (place / "README.md").write_text("mine")
        before = sorted((path, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*"))
        with pytest.raises(UsageError) as error:
            write_project(project, tmp_path)
        assert codes(error.value) == ["usage.exists"]
        assert sorted((path, path.lstat().st_mtime_ns) for path in tmp_path.rglob("*")) == before

    @pytest.mark.slow
    def test_a_disk_that_is_full(self, tmp_path: Path) -> None:
        """When a file in the middle cannot be written, nothing is left of those before it."""
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
        )
        assert "error[usage.unwritable]: cannot write" in done.stdout
        assert "File too large" in done.stdout
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("name", ["absent", "file"])
    def test_a_parent_that_is_no_folder(self, name: str, tmp_path: Path) -> None:
        """A misspelt --dir makes no folders."""
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError) as error:
            write_project(Project("scorers", "acme-tone"), tmp_path / name)
        assert codes(error.value) == ["usage.no-such-path"]
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
