"""Functions decide little, folders stay small, and modules of the core do not import each other in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cycles
import decisions

PLUGIN = "plugins/scorers/busy/src/skillgauge_scorer_busy"


def write(path: Path, text: str) -> None:
    """Write a module and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def function_with(count: int, name: str = "busy") -> str:
    """Return the source of a function that has so many decisions, all but the first in one expression."""
    return f"def {name}(x):\n    return {' or '.join(['x'] * count)}\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a small tree that keeps every rule and lists no exception."""
    write(tmp_path / "core/src/skillgauge/__init__.py", "")
    write(tmp_path / f"{PLUGIN}/scorer.py", function_with(decisions.DECISION_LIMIT))
    write(tmp_path / ".ci/program.py", "")
    write(tmp_path / decisions.EXCEPTIONS, "")
    return tmp_path


@pytest.mark.slow
def test_this_repository_keeps_the_limits() -> None:
    """No function and no folder is above its limit but those listed, and the list names nothing else."""
    assert decisions.problems() == []


@pytest.mark.slow
def test_this_core_has_no_circle_of_imports() -> None:
    """Modules of the core import each other in one direction, lazy imports included."""
    graph = cycles.import_graph(ignored=cycles.ignored_imports())
    assert cycles.cycle(graph) == []
    assert any(graph.values())
    assert cycles.main() == 0


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return 1", 1),
        ("if x:\n  return 1\n elif y:\n  return 2", 3),
        ("for a in x:\n  while a:\n   pass", 3),
        ("try:\n  pass\n except OSError:\n  pass\n except ValueError:\n  pass", 3),
        ("match x:\n  case 1:\n   pass\n  case _:\n   pass", 3),
        ("assert x", 2),
        ("return 1 if x else 2", 2),
        ("return x and y or x", 3),
        ("return x and y and x and y", 4),
        ("return [a for a in x if a if a > 1]", 4),
        ("return {a: b for a in x for b in a}", 3),
        ("return any(a for a in x)", 2),
        ("def g():\n  return 1 if x else 2\n return g", 2),
    ],
)
def test_what_counts_as_a_decision(body: str, count: int) -> None:
    """Statements and expressions count alike, and so does what a nested function decides."""
    function = ast.parse(f"def f(x, y):\n {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    assert decisions.decisions(function) == count


@pytest.mark.parametrize("place", ["core/src/skillgauge/a.py", f"{PLUGIN}/a.py", "libraries/l/src/l/a.py", ".ci/a.py"])
def test_a_busy_function_is_found_in_every_tree(tree: Path, place: str) -> None:
    """A packed method above the limit is named with its class; tests are not counted."""
    assert decisions.problems(tree) == []
    lines = function_with(decisions.DECISION_LIMIT + 1).splitlines()
    write(tree / place, "class Scorer:\n" + "".join(f"    {line}\n" for line in lines))
    write(tree / "plugins/scorers/busy/tests/test_it.py", function_with(90))
    assert decisions.problems(tree) == [f"{place}:Scorer.busy has 16 decisions, the limit is 15"]


def test_a_full_folder_is_found(tree: Path) -> None:
    """Sixteen modules beside `__init__.py` are enough, the seventeenth is too many."""
    folder = tree / "core/src/skillgauge/room"
    write(folder / "__init__.py", "")
    for number in range(decisions.FILE_LIMIT):
        write(folder / f"part_{number}.py", "")
    assert decisions.problems(tree) == []
    write(folder / "last.py", "")
    assert decisions.problems(tree) == ["core/src/skillgauge/room has 17 modules, the limit is 16"]


def test_an_exception_holds_for_its_count_only(tree: Path) -> None:
    """A listed function may stay as it is; one decision more is a problem."""
    key = f"{PLUGIN}/scorer.py:busy"
    write(tree / decisions.EXCEPTIONS, f'[decisions]\n"{key}" = 20\n')
    write(tree / f"{PLUGIN}/scorer.py", function_with(20))
    assert decisions.problems(tree) == []
    write(tree / f"{PLUGIN}/scorer.py", function_with(21))
    assert decisions.problems(tree) == [f"{key} has 21 decisions, the limit is 20"]


def test_the_list_of_exceptions_only_shrinks(tree: Path) -> None:
    """An entry is lowered when its count falls, and removed when it is within the limit or gone."""
    listed = {name: f"{PLUGIN}/scorer.py:{name}" for name in ("fell", "mended", "gone")}
    entries = "".join(f'"{key}" = 20\n' for key in listed.values())
    write(tree / decisions.EXCEPTIONS, f'[decisions]\n{entries}[files]\n"core/src/skillgauge" = 17\n')
    write(tree / f"{PLUGIN}/scorer.py", function_with(18, "fell") + function_with(3, "mended"))
    write(tree / "core/src/skillgauge/log.py", "")
    write(tree / "core/src/skillgauge/errors.py", "")
    assert decisions.problems(tree) == [
        f".ci/decisions.toml: {listed['fell']} has 18 decisions, not 20 any more: lower its number",
        f".ci/decisions.toml: {listed['mended']} has 3 decisions, within the limit of 15: remove its line",
        f".ci/decisions.toml: {listed['gone']} is gone: remove its line",
        ".ci/decisions.toml: core/src/skillgauge has 2 modules, within the limit of 16: remove its line",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "from . import b",
        "from .b import thing",
        "from ..room import b",
        "from skillgauge.room.b import thing",
        "import skillgauge.room.b",
        "def later():\n    from .b import thing",
        "try:\n    from . import b\nexcept ImportError:\n    b = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    from . import b",
    ],
)
def test_a_circle_of_imports_is_found(tree: Path, statement: str) -> None:
    """Two modules that import each other are a circle, however and whenever the import happens."""
    room = tree / "core/src/skillgauge/room"
    write(room / "__init__.py", "")
    write(room / "a.py", f"{statement}\n")
    write(room / "b.py", "def later():\n    from . import a\n")
    circle = cycles.cycle(cycles.import_graph(tree))
    assert set(circle) == {"skillgauge.room.a", "skillgauge.room.b"}
    assert circle[0] == circle[-1]


@pytest.mark.parametrize("guard", ["from typing import TYPE_CHECKING", "TYPE_CHECKING = False"])
def test_what_only_type_checkers_import_is_no_circle(tree: Path, guard: str) -> None:
    """An import below `TYPE_CHECKING` never happens."""
    room = tree / "core/src/skillgauge/room"
    write(room / "a.py", f"{guard}\nif TYPE_CHECKING:\n    from . import b\n")
    write(room / "b.py", "from . import a\n")
    assert cycles.cycle(cycles.import_graph(tree)) == []


def test_a_circle_that_the_contract_leaves_out_is_no_problem(tree: Path) -> None:
    """Imports are left out by their two ends, in the direction that is named."""
    room = tree / "core/src/skillgauge/room"
    write(room / "a.py", "from . import b\n")
    write(room / "b.py", "from .. import room\nfrom . import a\n")
    graph = cycles.import_graph(tree, ["skillgauge.room.b -> skillgauge.room.a"])
    assert cycles.cycle(graph) == []
    assert graph["skillgauge.room.a"] == {"skillgauge.room.b"}
