"""Finding suites: which format gets which path, what a search enters, and what is refused before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from skillgauge.contract.formats import Claim, Dumped, Loaded, LoadRequest
from skillgauge.errors import Origin, Problem, Severity, SuiteError, UsageError
from skillgauge.plan.discovery import SKIPPED_FOLDERS, Found, discover, load
from skillgauge.types.arms import GroupKey
from skillgauge.types.results.summaries import Figure, SuiteSummary
from skillgauge.types.suite import Suite
from skillgauge_documents.frozen import EMPTY


class Format:
    """Claims what a predicate says, and loads what it is told to."""

    def __init__(
        self,
        claims: Callable[[Path], bool],
        answer: Callable[[LoadRequest], Loaded] = lambda request: Loaded(()),
        *,
        claim: Claim | None = None,
    ) -> None:
        self._claims = claims
        self._answer = answer
        self._claim = claim or Claim(dialect="v1")
        self.shown: list[str] = []
        self.requests: list[LoadRequest] = []

    def claim(self, path: Path) -> Claim | None:
        """Ask the predicate."""
        self.shown.append(path.name)
        return self._claim if self._claims(path) else None

    def load(self, request: LoadRequest) -> Loaded:
        """Give the answer."""
        self.requests.append(request)
        return self._answer(request)

    def dump(self, suite: Suite) -> Dumped:
        """Write nothing."""
        return Dumped(())

    def figures(self, summary: SuiteSummary) -> dict[GroupKey, tuple[Figure, ...]]:
        """Count nothing."""
        return {}


def ending(suffix: str) -> Format:
    """A format that is recognised by the ending of a file."""
    return Format(lambda path: path.is_file() and path.name.endswith(suffix))


def tree(root: Path, *files: str) -> Path:
    """Empty files below a folder."""
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def found_by(
    formats: Mapping[str, Format], *paths: Path, root: Path, forced: bool = False
) -> dict[str, tuple[list[str], list[str]]]:
    """Named and searched paths of each format, relative to a folder."""
    found: dict[str, Found] = {}
    discover(paths, formats, found, forced=forced)
    return {
        name: (
            [path.relative_to(root).as_posix() for path, searched in one.items() if not searched],
            [path.relative_to(root).as_posix() for path, searched in one.items() if searched],
        )
        for name, one in found.items()
    }


def problems_of(formats: Mapping[str, Format], *paths: Path, forced: bool = False) -> tuple[Problem, ...]:
    """What discovery refuses."""
    with pytest.raises(UsageError) as caught:
        discover(paths, formats, {}, forced=forced)
    return caught.value.problems


# --- claims -----------------------------------------------------------------------------------------------


def test_a_path_goes_to_the_format_that_claims_it(tmp_path: Path) -> None:
    """Each format gets its own paths, in the user's order; they count as named."""
    tree(tmp_path, "b.one", "a.one", "c.two")
    formats = {"one": ending(".one"), "two": ending(".two"), "idle": ending(".none")}
    paths = [tmp_path / name for name in ("b.one", "c.two", "a.one")]
    assert found_by(formats, *paths, root=tmp_path) == {"one": (["b.one", "a.one"], []), "two": (["c.two"], [])}


def test_a_claimed_folder_is_not_searched(tmp_path: Path) -> None:
    """A package is one thing, whatever lies in it."""
    tree(tmp_path, "package/suite.one")
    packages = Format(lambda path: path.name == "package")
    formats = {"package": packages, "one": ending(".one")}
    assert found_by(formats, tmp_path / "package", root=tmp_path) == {"package": (["package"], [])}
    assert found_by(formats, tmp_path, root=tmp_path) == {"package": ([], ["package"])}
    assert "suite.one" not in packages.shown


def test_what_was_found_before_stays(tmp_path: Path) -> None:
    """Paths of several options come together."""
    tree(tmp_path, "a.one", "b.one")
    found = {"one": {tmp_path / "a.one": False}}
    discover([tmp_path / "b.one"], {"one": ending(".one")}, found)
    assert found["one"] == {tmp_path / "a.one": False, tmp_path / "b.one": False}


def test_two_formats_that_claim_a_path_are_an_error(tmp_path: Path) -> None:
    """Not luck of the load order: both are named with what they saw, and the option that decides."""
    tree(tmp_path, "evals.json", "fine.one")
    formats = {
        "first": Format(lambda path: path.suffix == ".json", claim=Claim(dialect="a dialect", reason="not shown")),
        "second": Format(lambda path: path.suffix == ".json", claim=Claim(reason="a key")),
        "third": Format(lambda path: path.suffix == ".json", claim=Claim()),
        "one": ending(".one"),
    }
    (problem,) = problems_of(formats, tmp_path / "evals.json", tmp_path / "fine.one")
    assert problem.code == "usage.ambiguous-format"
    assert "first (a dialect); second (a key); third (recognised)" in problem.message
    assert problem.origin == Origin(str(tmp_path / "evals.json"))
    assert problem.hint == "Choose one with --suite-format first."


def test_two_formats_that_claim_a_found_path_are_an_error_too(tmp_path: Path) -> None:
    """A search gives every ambiguous path, not only the first."""
    tree(tmp_path, "a/evals.json", "b/evals.json", "c.one")
    formats = {name: Format(lambda path: path.suffix == ".json") for name in ("first", "second")}
    problems = problems_of(formats | {"one": ending(".one")}, tmp_path)
    assert [problem.origin for problem in problems] == [
        Origin(str(tmp_path / "a" / "evals.json")),
        Origin(str(tmp_path / "b" / "evals.json")),
    ]


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    """Paths that do not exist, that nobody knows and that two claim, in the user's order."""
    tree(tmp_path, "both.json", "unknown.txt")
    formats = {name: Format(lambda path: path.suffix == ".json") for name in ("first", "second")}
    paths = [tmp_path / name for name in ("absent", "unknown.txt", "both.json")]
    assert [problem.code for problem in problems_of(formats, *paths)] == [
        "usage.no-such-path",
        "usage.unknown-format",
        "usage.ambiguous-format",
    ]


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """It may be a typing error, or a case that the package here does not have."""
    (problem,) = problems_of({"one": ending(".one")}, tmp_path / "absent")
    assert str(tmp_path / "absent") in problem.message
    assert problem.hint is not None
    assert "case" in problem.hint


@pytest.mark.parametrize("name", ["unknown.txt", "folder"])
def test_a_path_that_nobody_knows_is_named_with_what_is_installed(tmp_path: Path, name: str) -> None:
    """The formats that were asked are listed, sorted."""
    tree(tmp_path, "unknown.txt", "folder/unknown.txt")
    (problem,) = problems_of({"two": ending(".two"), "one": ending(".one")}, tmp_path / name)
    assert problem.code == "usage.unknown-format"
    assert str(tmp_path / name) in problem.message
    assert "(installed: one, two)" in problem.message


def test_without_formats_nothing_is_known(tmp_path: Path) -> None:
    """The message says that none is installed."""
    (problem,) = problems_of({}, tmp_path)
    assert "(installed: none)" in problem.message


def test_no_paths_find_nothing() -> None:
    """Whoever names nothing gets nothing; what to do then is the caller's affair."""
    assert found_by({"one": ending(".one")}, root=Path("/")) == {}


# --- searching --------------------------------------------------------------------------------------------


def test_a_folder_that_nobody_claims_is_searched(tmp_path: Path) -> None:
    """In every depth, sorted, by every format; what is found counts as searched, not as named."""
    tree(tmp_path, "z.one", "a/b/c.two", "a/a.one", "a/readme.txt", "m.one")
    formats = {"one": ending(".one"), "two": ending(".two")}
    assert found_by(formats, tmp_path, root=tmp_path) == {
        "one": ([], ["a/a.one", "m.one", "z.one"]),
        "two": ([], ["a/b/c.two"]),
    }


def test_a_named_path_is_not_passed_over(tmp_path: Path) -> None:
    """A path that the user named and one that was found beside it are kept apart: a bad named one is fatal."""
    tree(tmp_path, "named.one", "folder/found.one")
    formats = {"one": ending(".one")}
    assert found_by(formats, tmp_path / "named.one", tmp_path / "folder", root=tmp_path) == {
        "one": (["named.one"], ["folder/found.one"])
    }


@pytest.mark.parametrize("folder", [".git", ".hidden", *sorted(SKIPPED_FOLDERS)])
def test_a_search_does_not_enter_what_was_installed_or_made(tmp_path: Path, folder: str) -> None:
    """Hidden folders and those of package managers are skipped at every depth, unasked."""
    tree(tmp_path, f"{folder}/a.one", f"sub/{folder}/deep/b.one", "c.one")
    one = ending(".one")
    assert found_by({"one": one}, tmp_path, root=tmp_path) == {"one": ([], ["c.one"])}
    assert folder not in one.shown


def test_the_skipped_folders_are_these() -> None:
    """A folder that is skipped silently must be a deliberate choice."""
    assert {"node_modules", "__pycache__", "venv", "dist", "build"} == SKIPPED_FOLDERS


class Filed(Format):
    """A format whose files lie in hidden folders."""

    searched_folders: object = (".agent/skills", ".other/skills")


def filed() -> Filed:
    """A format that looks into hidden folders."""
    return Filed(lambda path: path.is_file() and path.name.endswith(".one"))


def test_a_search_enters_hidden_folders_that_a_format_names(tmp_path: Path) -> None:
    """At every depth, and no other folder beside them; the others are found as before."""
    tree(tmp_path, ".agent/skills/a/x.one", "sub/.other/skills/y.one", ".agent/logs/z.one", ".secret/w.one", "v.one")
    expected = {"one": ([], ["sub/.other/skills/y.one", "v.one", ".agent/skills/a/x.one"])}
    assert found_by({"one": filed()}, tmp_path, root=tmp_path) == expected


@pytest.mark.parametrize("folders", [("../outside",), (7,), 7, ("",), ("/",)])
def test_a_format_names_no_other_folder(tmp_path: Path, folders: object) -> None:
    """What is none below the searched one is left alone, whatever a plugin says."""
    tree(tmp_path, "outside/a.one", "inside/b.one")
    one = filed()
    one.searched_folders = folders
    assert found_by({"one": one}, tmp_path / "inside", root=tmp_path) == {"one": ([], ["inside/b.one"])}


def test_linked_folders_inside_are_followed_once(tmp_path: Path) -> None:
    """What is found at its own place is not found again by a link, in whichever order they come."""
    tree(tmp_path, "z/skill/a.one", ".store/b/b.one")
    (tmp_path / ".agent/skills").mkdir(parents=True)
    (tmp_path / ".agent/skills/first").symlink_to(tmp_path / "z/skill")
    (tmp_path / ".agent/skills/second").symlink_to(tmp_path / ".store/b")
    (tmp_path / ".agent/skills/third").symlink_to(tmp_path / ".store/b")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = found_by({"one": filed()}, tmp_path, root=tmp_path)
    assert found == {"one": ([], ["z/skill/a.one", ".agent/skills/second/b.one"])}


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """Whoever wrote the folder does not decide what else is read, by a linked folder or a linked hidden one."""
    tree(tmp_path, "outside/skills/a.one", "inside/b.one")
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    (tmp_path / "inside/.agent").symlink_to(tmp_path / "outside")
    found = found_by({"one": filed()}, tmp_path / "inside", root=tmp_path)
    assert found == {"one": ([], ["inside/b.one"])}


def test_hidden_files_are_not_searched(tmp_path: Path) -> None:
    """They belong to tools."""
    tree(tmp_path, ".a.one", "b.one")
    assert found_by({"one": ending(".one")}, tmp_path, root=tmp_path) == {"one": ([], ["b.one"])}


def test_a_file_may_be_called_like_a_skipped_folder(tmp_path: Path) -> None:
    """Only folders are skipped by name."""
    tree(tmp_path, "build")
    formats = {"any": Format(lambda path: path.is_file())}
    assert found_by(formats, tmp_path, root=tmp_path) == {"any": ([], ["build"])}


@pytest.mark.parametrize("name", [".hidden", "build", "node_modules"])
def test_a_folder_that_is_named_is_entered(tmp_path: Path, name: str) -> None:
    """What the user says goes before what a search would skip."""
    tree(tmp_path, f"{name}/a.one")
    assert found_by({"one": ending(".one")}, tmp_path / name, root=tmp_path) == {"one": ([], [f"{name}/a.one"])}


def test_a_search_follows_no_links_to_folders(tmp_path: Path) -> None:
    """It ends although a folder links to its parent, and finds nothing twice; a linked file is a file."""
    tree(tmp_path, "real/a.one")
    (tmp_path / "real" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "file.one").symlink_to(tmp_path / "real" / "a.one")
    assert found_by({"one": ending(".one")}, tmp_path, root=tmp_path) == {"one": ([], ["file.one", "real/a.one"])}


class GuardedPath(type(Path())):  # type: ignore[misc]  # the concrete class depends on the system
    """A path whose folder `locked` may be seen but not listed, also not by root."""

    def iterdir(self) -> Iterator[Path]:
        """List it, or not."""
        if self.name == "locked":
            raise PermissionError(13, "Permission denied")
        return super().iterdir()  # type: ignore[no-any-return]  # its base class is not known to the checker


def test_a_folder_that_cannot_be_listed_is_passed_over(tmp_path: Path) -> None:
    """Somebody else's folder does not hide the suites beside it."""
    tree(tmp_path, "locked/a.one", "open/b.one")
    assert found_by({"one": ending(".one")}, GuardedPath(tmp_path), root=tmp_path) == {"one": ([], ["open/b.one"])}


def test_a_search_that_finds_one_suite_is_content(tmp_path: Path) -> None:
    """Files that nobody knows lie everywhere; they are no problem beside a suite, wherever it lies."""
    tree(tmp_path, "a/readme.md", "b/deep/deeper/x.one", "c/z.txt")
    assert found_by({"one": ending(".one")}, tmp_path, root=tmp_path) == {"one": ([], ["b/deep/deeper/x.one"])}


@pytest.mark.parametrize("forced", [True, False])
def test_a_path_counts_once(tmp_path: Path, forced: bool) -> None:
    """Named twice, or named and found by a search, in either order: loaded twice it would be two suites of one name."""
    tree(tmp_path, "folder/a.one", "folder/b.one")
    named, folder = tmp_path / "folder" / "a.one", tmp_path / "folder"
    formats = {"one": ending(".one")}
    assert found_by(formats, named, named, root=folder, forced=forced) == {"one": (["a.one"], [])}
    assert found_by(formats, named, folder, root=folder, forced=forced) == {"one": (["a.one"], ["b.one"])}
    assert found_by(formats, folder, named, root=folder, forced=forced) == {"one": (["a.one"], ["b.one"])}
    assert found_by(formats, folder, folder, root=folder, forced=forced) == {"one": ([], ["a.one", "b.one"])}


# --- a forced format --------------------------------------------------------------------------------------


def test_a_forced_format_gets_what_it_does_not_claim(tmp_path: Path) -> None:
    """Then it can say what is wrong with the file; what it claims or finds it gets as usual."""
    tree(tmp_path, "a.txt", "b.one", "folder/c.one", "other/d.txt")
    formats = {"one": ending(".one")}
    paths = [tmp_path / name for name in ("a.txt", "b.one", "folder", "other")]
    assert found_by(formats, *paths, root=tmp_path, forced=True) == {
        "one": (["a.txt", "b.one", "other"], ["folder/c.one"])
    }


def test_a_format_is_not_forced_unless_that_is_said(tmp_path: Path) -> None:
    """Asking one format is not choosing it."""
    tree(tmp_path, "a.txt")
    with pytest.raises(UsageError, match="holds nothing"):
        discover([tmp_path / "a.txt"], {"one": ending(".one")}, {})


def test_a_forced_format_does_not_get_what_is_not_there(tmp_path: Path) -> None:
    """A missing path is a missing path."""
    (problem,) = problems_of({"one": ending(".one")}, tmp_path / "absent", forced=True)
    assert problem.code == "usage.no-such-path"


# --- loading ----------------------------------------------------------------------------------------------


def suite(name: str) -> Suite:
    """A suite without content."""
    return Suite(id=name, format="f", root="/")


def bad(code: str) -> Callable[[LoadRequest], Loaded]:
    """A format that finds two problems."""

    def refuse(request: LoadRequest) -> Loaded:
        raise SuiteError([Problem(code, "first"), Problem(code, "second")])

    return refuse


def test_each_format_loads_its_paths_at_once(tmp_path: Path) -> None:
    """One request per format, with named and searched paths apart, the current folder and the user's options."""
    one = Format(lambda path: False, lambda request: Loaded((suite("a"), suite("b"))))
    two = Format(lambda path: False, lambda request: Loaded((suite("c"),)))
    found = {
        "one": {tmp_path / "x": False, tmp_path / "z": True, tmp_path / "y": False},
        "two": {tmp_path / "w": True},
    }
    formats = {"one": one, "two": two, "idle": ending(".x")}
    installed = {"engines": ("api", "mock")}
    suites, passed_over = load(found, formats, cwd=tmp_path, options={"o": 1}, installed=installed)
    assert [one_suite.id for one_suite in suites] == ["a", "b", "c"]
    assert passed_over == ()
    assert one.requests == [
        LoadRequest(
            paths=(str(tmp_path / "x"), str(tmp_path / "y")),
            searched=(str(tmp_path / "z"),),
            cwd=str(tmp_path),
            options={"o": 1},
            installed=installed,
        )
    ]
    assert (two.requests[0].paths, two.requests[0].searched) == ((), (str(tmp_path / "w"),))


def test_bad_files_that_a_search_passed_over_are_told(tmp_path: Path) -> None:
    """The suites beside them are loaded."""
    warning = Problem("suite.bad", "m", severity=Severity.WARNING)
    formats = {name: Format(lambda path: False, lambda request: Loaded((suite("a"),), (warning,))) for name in "ab"}
    suites, passed_over = load({name: {} for name in "ab"}, formats, cwd=tmp_path, options=EMPTY, installed={})
    assert (len(suites), passed_over) == (2, (warning, warning))


def test_every_problem_of_every_format_is_told(tmp_path: Path) -> None:
    """Nothing is raised before all formats have read their files; what was passed over comes last."""
    passed = Problem("suite.passed-over", "m")
    formats = {
        "a": Format(lambda path: False, bad("a.bad")),
        "b": Format(lambda path: False, lambda request: Loaded((suite("b"),), (passed,))),
        "c": Format(lambda path: False, bad("c.bad")),
    }
    with pytest.raises(SuiteError) as caught:
        load({name: {} for name in formats}, formats, cwd=tmp_path, options=EMPTY, installed={})
    assert [(problem.code, problem.message) for problem in caught.value.problems] == [
        ("a.bad", "first"),
        ("a.bad", "second"),
        ("c.bad", "first"),
        ("c.bad", "second"),
        ("suite.passed-over", "m"),
    ]


def test_a_search_that_finds_only_bad_files_is_an_error(tmp_path: Path) -> None:
    """With nothing left to run, what was passed over is what is wrong."""
    passed = Problem("suite.passed-over", "m")
    formats = {"a": Format(lambda path: False, lambda request: Loaded((), (passed,))), "b": ending(".one")}
    with pytest.raises(SuiteError) as caught:
        load({"a": {}, "b": {}}, formats, cwd=tmp_path, options=EMPTY, installed={})
    assert caught.value.problems == (passed,)


def test_nothing_found_loads_nothing(tmp_path: Path) -> None:
    """Formats without paths are not bothered."""
    one = ending(".one")
    assert load({}, {"one": one}, cwd=tmp_path, options=EMPTY, installed={}) == ((), ())
    assert one.requests == []


def test_a_claim_may_leave_paths_to_other_formats(tmp_path: Path) -> None:
    """What it leaves is searched for what others read; the rest of the folder stays closed."""
    root = tree(tmp_path, "pack/manifest", "pack/inner/a.suite", "pack/other/b.suite")
    inner, suites = root / "pack/inner", ending(".suite")
    pack = Format(lambda path: path.name == "pack", claim=Claim(leaves=(inner, root / "pack/absent")))
    assert found_by({"pack": pack, "suites": suites}, root / "pack", root=root) == {
        "pack": (["pack"], []),
        "suites": ([], ["pack/inner/a.suite"]),
    }
    assert found_by({"pack": pack}, root / "pack", root=root) == {"pack": (["pack"], [])}
    nested = Format(lambda path: path.name in ("pack", "inner"), claim=Claim(leaves=(inner, root)))
    found = found_by({"nested": nested, "suites": suites}, root / "pack", root=root)
    assert found == {"nested": (["pack"], ["pack/inner"])}  # its own kind too, and never what is around it


def test_a_folder_that_cannot_be_entered_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-8: one that may be listed, while nothing in it may be looked at, does not end the search; root may do both."""
    tree(tmp_path, "closed/a.one", "open/b.one")
    (tmp_path / "closed").chmod(0o444)
    if os.geteuid() == 0:
        is_dir = Path.is_dir

        def refused(path: Path) -> bool:
            if path.parent.name == "closed":
                raise PermissionError(13, "Permission denied", str(path))
            return is_dir(path)

        monkeypatch.setattr(Path, "is_dir", refused)
    found: dict[str, dict[Path, bool]] = {}
    try:
        discover([tmp_path], {"one": ending(".one")}, found)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert found == {"one": {tmp_path / "open/b.one": True}}
