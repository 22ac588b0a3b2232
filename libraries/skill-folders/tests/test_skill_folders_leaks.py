"""What is installed of a skill, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillgauge_skill_folders import bundled_files, bytes_of, contained, file_spec, files_of, leaks_of, skill_ref


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A skill with a suite, tests, results, a script for the agent, and one that grades."""
    for path, text in {
        "SKILL.md": "Run scripts/convert.py on the table.",
        "scripts/convert.py": "import tables\n",
        "scripts/tables.py": "",
        "scripts/grade.py": "import sys\n# reads key.json\n",
        "scripts/key.json": '{"answer": 42}',
        "evals/evals.json": "{}",
        "evals/files/a.csv": "1",
        "tests/test_convert.py": "",
        "eval.yaml": "",
        "benchmark.json": "",
        "benchmark-2.json": "",
        "expected-run-result.json": "",
        "assets/benchmark.json": "",
        ".git/HEAD": "",
        "scripts/__pycache__/convert.pyc": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


GRADE = "python3 scripts/grade.py scripts/key.json --in=out.txt"


@pytest.mark.requirement("UA-LAYOUT-014")
def test_suites_tests_and_results_are_left_out(root: Path) -> None:
    """Questions, answers, tests and history stay behind; what the skill brings for its work is installed."""
    leaks = leaks_of(root)
    assert set(leaks.always) == {
        ".git",
        "evals",
        "tests",
        "eval.yaml",
        "benchmark.json",
        "benchmark-2.json",
        "expected-run-result.json",
        "scripts/__pycache__",
    }
    assert files_of(root, leaks.paths) == [
        "SKILL.md",
        "assets/benchmark.json",
        "scripts/convert.py",
        "scripts/grade.py",
        "scripts/key.json",
        "scripts/tables.py",
    ]


@pytest.mark.requirement("SE-FORMAT-010")
def test_answer_keys_of_validators_are_left_out(root: Path) -> None:
    """A script that only validators name goes, and so does the key that they or it name; what the skill uses stays."""
    assert leaks_of(root, commands=[GRADE]).of_validators == ("scripts/grade.py", "scripts/key.json")
    used = "python3 scripts/convert.py && python3 scripts/tables.py"
    assert leaks_of(root, commands=[used]).of_validators == ()
    (root / "SKILL.md").write_text("Check with `scripts/grade.py`. Run scripts/convert.py.")
    assert leaks_of(root, commands=[GRADE]).of_validators == ()  # a script of the skill reads the key
    (root / "scripts/grade.py").write_text("")
    assert leaks_of(root, commands=[GRADE]).of_validators == ("scripts/key.json",)


def test_what_a_user_wants_kept_is_kept(root: Path) -> None:
    """Globs take paths off the list, of both kinds."""
    leaks = leaks_of(root, commands=[GRADE], keep=["tests", "scripts/*.json", "benchmark*"], also=["more.json"])
    assert leaks.of_validators == ("scripts/grade.py",)
    assert {"evals", "more.json"} <= set(leaks.always)
    assert not {"tests", "benchmark.json"} & set(leaks.always)


def test_digest_is_of_what_is_installed(root: Path) -> None:
    """Editing a case leaves the skill what it is; editing a script, or making it executable, does not."""
    left_out = leaks_of(root).paths
    before = skill_ref(root, "x", left_out)
    (root / "evals/evals.json").write_text("[]")
    assert skill_ref(root, "x", left_out) == before
    (root / "scripts/convert.py").chmod(0o755)
    executable = skill_ref(root, "x", left_out).digest
    (root / "scripts/convert.py").write_text("import os\n")
    assert len({before.digest, executable, skill_ref(root, "x", left_out).digest}) == 3


def test_links_are_no_part_of_a_skill(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link to elsewhere would carry something else into the workspace."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("x")
    (root / "link").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    assert not [path for path in files_of(root) if "link" in path or "folder" in path]
    assert contained(root, "link") is None
    assert contained(root, "folder/secret") is None


@pytest.mark.parametrize("written", ["../x", "a/../../x", "/etc/passwd", "C:\\x", "\\\\host\\x", "", "..\\x", "a\0b"])
def test_paths_that_leave(tmp_path: Path, written: str) -> None:
    """Whatever leads out of the folder is refused, in the notation of any system."""
    assert contained(tmp_path, written) is None


@pytest.mark.parametrize("written", [".git/config", "sub/.git", "sub/.GIT/config", "link"])
def test_what_git_keeps_is_not_the_folders(tmp_path: Path, written: str) -> None:
    """Its configuration holds credentials of the checkout; a link in the repository does not lead there either."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("[http]\n\textraheader = AUTHORIZATION: basic x\n")
    (tmp_path / "link").symlink_to(".git/config")
    assert contained(tmp_path, written) is None
    assert contained(tmp_path, ".gitignore") == tmp_path.resolve() / ".gitignore"


def test_only_regular_files_of_some_size_are_read(tmp_path: Path) -> None:
    """Neither pipes nor devices, and nothing huge."""
    (tmp_path / "small").write_bytes(b"12345")
    (tmp_path / "device").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 40)
    assert bytes_of(tmp_path / "small", 5) == b"12345"
    for name, most in (("small", 4), ("device", 5), ("pipe", 5), ("huge", 5), ("absent", 5), ("a" * 300, 5)):
        assert bytes_of(tmp_path / name, most) is None


@pytest.mark.requirement("SE-FORMAT-009")
def test_validators_get_what_lies_beside_their_script(root: Path) -> None:
    """A script that imports its neighbour works in a workspace without the skill; caches do not come along."""
    files = {file.path for file in bundled_files(root, [GRADE])}
    assert files == {"scripts/convert.py", "scripts/grade.py", "scripts/key.json", "scripts/tables.py"}
    assert {file.path for file in bundled_files(root, ["cat SKILL.md; ls /etc"])} == {"SKILL.md"}
    assert bundled_files(root, ["grep 'an open quotation", ""]) == ()
    assert bundled_files(root, [f"python3 -c '{'pass;' * 1000}'"]) == ()
    assert [file.path for file in bundled_files(root, ["test -f x&&cat<SKILL.md"])] == ["SKILL.md"]


def test_files_are_known_by_their_content(root: Path) -> None:
    """The same content elsewhere is the same file; another content is not."""
    csv = root / "evals/files/a.csv"
    first = file_spec(csv, "a.csv")
    other = csv.with_name("b.csv")
    other.write_text("1")
    assert file_spec(other, "a.csv").content_id == first.content_id
    other.write_text("2")
    assert file_spec(other, "a.csv").content_id != first.content_id
