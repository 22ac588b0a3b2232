"""What is made of a project, and what is left as it is."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from skillgauge.api import UsageError
from skillgauge_command_init.scaffold import CONFIG, FOLDERS, State, configs_in_force, make_project

PATHS = [CONFIG, "skills/", "benchmarks/", "reports/"]
FOREIGN = sorted({entry.name for entry in entry_points(group="skillgauge.config_files")})


def states(folder: Path) -> list[tuple[str, State]]:
    """Paths and states of what `make_project` reports."""
    return [(part.path, part.state) for part in make_project(folder)]


@pytest.mark.requirement("ES-INIT-001", "ES-INIT-002")
def test_everything_is_made_once(tmp_path: Path) -> None:
    """The first call makes all, folders above included; the second finds all, changed or not, and changes nothing."""
    folder = tmp_path / "a" / "b"
    assert states(folder) == [(path, State.CREATED) for path in PATHS]
    assert sorted(path.name for path in folder.iterdir()) == sorted([CONFIG, *FOLDERS])
    (folder / CONFIG).write_text("runs: 2\n")
    (folder / "skills" / "mine").touch()
    assert states(folder) == [(path, State.EXISTS) for path in PATHS]
    assert (folder / CONFIG).read_text() == "runs: 2\n"
    assert (folder / "skills" / "mine").exists()


@pytest.mark.requirement("ES-INIT-002")
@pytest.mark.parametrize("there", PATHS)
def test_what_is_missing_is_made(tmp_path: Path, there: str) -> None:
    """Any part may be there already; the others are made."""
    if there == CONFIG:
        (tmp_path / there).touch()
    else:
        (tmp_path / there).mkdir()
    assert states(tmp_path) == [(path, State.EXISTS if path == there else State.CREATED) for path in PATHS]


@pytest.mark.requirement("ES-INIT-002")
def test_links_are_followed_and_never_replaced(tmp_path: Path) -> None:
    """A folder may be a link to one, and a configuration a link to nothing yet; both count as there."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "reports").symlink_to("elsewhere")
    (tmp_path / CONFIG).symlink_to("absent.yaml")
    assert dict(states(tmp_path)) == {
        CONFIG: State.EXISTS,
        "skills/": State.CREATED,
        "benchmarks/": State.CREATED,
        "reports/": State.EXISTS,
    }
    assert not (tmp_path / "absent.yaml").exists()


def test_the_original_configuration_is_among_those_that_are_read() -> None:
    """The installed format declares the file that eval-skills documents."""
    assert "eval-skills.config.yaml" in FOREIGN


@pytest.mark.requirement("ES-INIT-002")
@pytest.mark.parametrize("name", [name for name in FOREIGN if not name.startswith("~/")])
def test_a_configuration_in_force_is_not_hidden(tmp_path: Path, name: str) -> None:
    """Beside another program's file that is read, no file of ours appears; once ours is there, only it is told."""
    (tmp_path / name).write_text("{}")
    (first, *_) = make_project(tmp_path, foreign=FOREIGN)
    assert (first.path, first.state) == (name, State.EXISTS)
    assert first.note
    assert CONFIG in first.note
    assert not (tmp_path / CONFIG).exists()
    (tmp_path / CONFIG).touch()
    (first, *_) = make_project(tmp_path, foreign=FOREIGN)
    assert (first.path, first.state, first.note) == (CONFIG, State.EXISTS, None)


@pytest.mark.parametrize(
    ("text", "in_force"),
    [
        ("[tool.skillgauge]\nruns = 2\n", True),
        ("[tool.skillgauge.llm]\nmodel = 'm'\n", True),
        ("tool = { skillgauge = {} }\n", True),
        ("[tool.other]\n# [tool.skillgauge]\n", False),
        ("[project]\nname = 'tool.skillgauge'\n", False),
        ("tool = 3\n", False),
        ("[tool", False),
        (b"\xff", False),
    ],
)
def test_pyproject_counts_if_it_has_the_table(tmp_path: Path, text: str | bytes, in_force: bool) -> None:
    """A pyproject.toml is a configuration only if it says something to skillgauge, and then before foreign files."""
    (tmp_path / "pyproject.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    (tmp_path / "eval-skills.config.yaml").touch()
    assert configs_in_force(tmp_path, FOREIGN) == (("pyproject.toml",) if in_force else ("eval-skills.config.yaml",))


def test_all_obstacles_are_told_and_nothing_is_made(tmp_path: Path) -> None:
    """Files in place of folders, and a folder in place of the file, are named together."""
    (tmp_path / "skills").touch()
    (tmp_path / "reports").symlink_to("nowhere")
    (tmp_path / CONFIG).mkdir()
    with pytest.raises(UsageError) as caught:
        make_project(tmp_path)
    assert [problem.code for problem in caught.value.problems] == [*["init.not-a-folder"] * 2, "init.not-a-file"]
    assert not (tmp_path / "benchmarks").exists()


@pytest.mark.parametrize(("place", "code"), [("file", "init.not-a-folder"), ("file/in/it", "usage.unwritable")])
def test_a_place_that_cannot_be(tmp_path: Path, place: str, code: str) -> None:
    """A file cannot become a project, nor can there be one inside it."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        make_project(tmp_path / place)
    (problem,) = caught.value.problems
    assert problem.code == code
    assert str(tmp_path / "file") in problem.message
