"""Evals that do not lie in the skill they are about: in a plugin, a marketplace, a repository."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillgauge.api import SuiteError
from skillgauge_format_agent_skills.recognition.claiming import claim

from .conftest import Load, Write

Faults = Callable[..., list[tuple[str, int | None, str]]]
EVAL = {"prompt": "p", "assertions": ["a"]}


@pytest.fixture
def add(write: Write) -> Callable[[str], Path]:
    """Makes a skill in a folder, with its name."""

    def make(folder: str) -> Path:
        name = folder.rpartition("/")[2]
        return write(f"{folder}/SKILL.md", f"---\nname: {name}\ndescription: About {name}.\n---\n").parent

    return make


@pytest.mark.parametrize(
    ("folder", "manifest"),
    [
        ("skills/pears", None),
        (".claude/skills/pears", None),
        ("pears", None),
        ("tools/pears", (".claude-plugin/plugin.json", {"name": "n", "skills": ["./tools/pears"]})),
        ("tools/pears", (".claude-plugin/plugin.json", {"name": "n", "skills": "./tools/"})),
        (
            "shelf/fruit/skills/pears",
            (
                ".claude-plugin/marketplace.json",
                {"metadata": {"pluginRoot": "./shelf"}, "plugins": [{"name": "fruit", "source": "fruit"}]},
            ),
        ),
        (
            "tools/pears",
            (
                ".claude-plugin/marketplace.json",
                {
                    "plugins": [
                        {"name": "far", "source": {"source": "github"}},
                        {"source": "./", "skills": ["./tools/pears"]},
                    ]
                },
            ),
        ),
    ],
)
def test_the_skill_is_found_by_its_name(
    folder: str, manifest: tuple[str, object] | None, add: Callable[[str], Path], write: Write, load: Load
) -> None:
    """`skill_name` of evals at the root finds the skill wherever plugins and repositories keep them."""
    root = add(f"repo/{folder}")
    add(f"repo/{folder.rpartition('/')[0]}/apples" if "/" in folder else "repo/apples")
    if manifest:
        write(f"repo/{manifest[0]}", manifest[1])
    file = write("repo/evals/evals.json", {"skill_name": "pears", "evals": [EVAL]})
    (suite,) = load(file).suites
    assert (suite.name, Path(suite.arms[0].skills[0].root).resolve()) == ("pears", root.resolve())
    assert not suite.warnings


def test_one_skill_alone_is_taken(add: Callable[[str], Path], write: Write, load: Load) -> None:
    """Where there is one skill only, nobody need say which."""
    add("repo/skills/pears")
    queries = write("repo/evals/triggers.json", [{"query": "q", "should_trigger": True}])
    evals = write("repo/evals/evals.json", [EVAL])
    assert [suite.name for suite in load(queries, evals).suites] == ["pears", "pears"]


def test_files_are_found_from_the_root_of_a_repository(add: Callable[[str], Path], write: Write, load: Load) -> None:
    """Evals at a root name their input from there."""
    add("repo/skills/pears")
    write("repo/evals/files/a.csv", "1")
    (suite,) = load(write("repo/evals/evals.json", [{**EVAL, "files": ["evals/files/a.csv"]}])).suites
    assert [file.path for case in suite.cases for file in case.files] == ["evals/files/a.csv"]


@pytest.mark.parametrize("name", ["evals/pears/evals.json", "evals/pears.json", "evals/pears.evals.json"])
def test_the_name_of_a_file_is_enough(name: str, add: Callable[[str], Path], write: Write, load: Load) -> None:
    """A file or folder of evals that is called like a skill is about it."""
    add("repo/skills/pears")
    add("repo/skills/apples")
    (suite,) = load(write(f"repo/{name}", [EVAL])).suites
    assert suite.name == "pears"


def test_several_skills_are_listed(add: Callable[[str], Path], write: Write, faults: Faults, load: Load) -> None:
    """Without a name, or with one that no skill has, the skills are told, and what to write."""
    for name in ("apples", "pears"):
        add(f"repo/skills/{name}")
    nameless = write("repo/evals/evals.json", [EVAL])
    ((code, _, message),) = faults(nameless)
    assert (code, message.endswith("there are several: apples, pears")) == ("suite.which-skill", True)
    with pytest.raises(SuiteError) as raised:
        load(nameless)
    assert '"skill_name": "apples"' in str(raised.value.problems[0].hint)
    wrong = write("repo/evals/more.json", {"evals": [EVAL], "skill_name": "pear"})
    ((code, line, message),) = faults(wrong)
    assert (code, line, "did you mean pears?" in message) == ("suite.which-skill", 10, True)


def test_a_search_ends_at_the_repository(add: Callable[[str], Path], write: Write, faults: Faults) -> None:
    """Skills around a repository are none of its own."""
    add("skills/pears")
    (write("repo/.git/HEAD", "ref: x").parent).is_dir()
    assert [code for code, _, _ in faults(write("repo/evals/evals.json", [EVAL]))] == ["suite.no-skill"]


def test_links_out_of_a_manifest_are_not_followed(add: Callable[[str], Path], write: Write, faults: Faults) -> None:
    """A manifest names folders of its own repository only."""
    add("outside/pears")
    write("repo/.claude-plugin/plugin.json", {"skills": ["../outside/pears", "/outside"]})
    assert [code for code, _, _ in faults(write("repo/evals/evals.json", [EVAL]))] == ["suite.no-skill"]


@contextmanager
def files_touched() -> Iterator[list[str]]:
    """Counts the files and folders that are opened here; a thread that another test left behind does not count."""
    seen: list[str] = []
    hooks: list[list[str]] = [seen]
    here = threading.get_ident()

    def note(event: str, _: object) -> None:
        if hooks and event in ("open", "os.listdir", "os.scandir") and threading.get_ident() == here:
            hooks[0].append(event)

    sys.addaudithook(note)
    try:
        yield seen
    finally:
        hooks.clear()


@pytest.mark.slow
def test_three_hundred_skills_in_linear_time(add: Callable[[str], Path], write: Write, load: Load) -> None:
    """The work for a repository whose evals lie at its root grows with its skills, and not with their square."""

    def opened(count: int) -> int:
        repo = f"repo{count}"
        names = [f"skill-{number}" for number in range(count)]
        for name in names:
            add(f"{repo}/skills/{name}")
        files = [write(f"{repo}/evals/{name}/evals.json", {"skill_name": name, "evals": [EVAL]}) for name in names]
        with files_touched() as seen:
            loaded = load(searched=tuple(files))
        assert [suite.name for suite in loaded.suites] == names
        assert not loaded.problems
        return len(seen)

    few, many = opened(100), opened(300)
    assert many < 3.1 * few


def test_a_skill_does_not_hide_the_skills_in_it(add: Callable[[str], Path], write: Write) -> None:
    """D-K15: a repository that is a skill itself leaves the others in it to be searched."""
    repo = add("repo")
    write("repo/evals/evals.json", [EVAL])
    inner = [add("repo/skills/apples"), add("repo/pears")]
    found = claim(repo, lambda _: False)
    assert found is not None
    assert list(found.leaves) == inner


@pytest.mark.parametrize(
    "path", ["src/fruit/pears/SKILL.md", "src/fruit/pears", "../../src/fruit/pears/", "./src/fruit/pears"]
)
def test_the_path_of_a_skill_is_honoured(path: str, add: Callable[[str], Path], write: Write, load: Load) -> None:
    """R3-W-9: of its folder or its SKILL.md, from the file's folder or one around it, and before any other sign."""
    root = add("repo/src/fruit/pears")
    add("repo/skills/apples")
    (root.parents[2] / ".git").mkdir()
    file = write("repo/tests/evals/apples.eval.json", {"skill_path": path, "evals": [EVAL]})
    (suite,) = load(file).suites
    assert (suite.name, Path(suite.arms[0].skills[0].root).resolve()) == ("pears", root.resolve())
    assert not suite.warnings


@pytest.mark.parametrize("path", ["src/none/SKILL.md", "../elsewhere/plums"])
def test_a_path_without_a_skill_is_told(path: str, add: Callable[[str], Path], write: Write, faults: Faults) -> None:
    """With its place; nor does a suite take a skill from outside its repository."""
    add("repo/skills/pears")
    add("elsewhere/plums")
    file = write("repo/evals/evals.json", {"skill_path": path, "evals": [EVAL]})
    (file.parents[1] / ".git").mkdir()
    ((code, _, message),) = faults(file)
    assert code == "suite.no-skill"
    assert message == f"skill_path is {path!r}, and there is no SKILL.md, from here or from a folder around it"
