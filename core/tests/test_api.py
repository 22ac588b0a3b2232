"""The doors that plugin authors import from: complete, documented, and nothing by accident."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge import api, errors, stats
from skillgauge.api import report as report_door
from skillgauge.api import run as run_door
from skillgauge.contract import (
    adapters,
    engines,
    executors,
    format_parts,
    formats,
    judges,
    providers,
    reporters,
    sandboxes,
    scorers,
    stores,
)
from skillgauge.types import answers, suite, trial
from skillgauge.types.results import runs, summaries, trials
from skillgauge_documents import frozen

CONTRACT = (
    adapters,
    engines,
    executors,
    format_parts,
    formats,
    judges,
    providers,
    reporters,
    sandboxes,
    scorers,
    stores,
)

NOT_FOR_PLUGINS = {"PROJECT", "TYPE_CHECKING", "T", "P", "PLAIN", "errors_among", "imported", "once", "Numerous"}
NOT_FOR_PLUGINS |= {"CaseFacts", "SuiteFacts", "TrialFacts"}
NOT_FOR_PLUGINS |= {"Cases", "Clean", "MORE_THAN_HALF", "Recorder", "RunSource", "SessionCache", "Spending"}
"""Names that the core needs for itself, or that plugins meet as fields of other values and never name."""

ROOT = Path(__file__).parents[2]
DOORS = (api, run_door, report_door)
door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)


@door
def test_type_checkers_see_the_same(door: ModuleType) -> None:
    """Python reads every line of the stub as a type checker does."""
    assert door.__file__
    tree = ast.parse(Path(door.__file__).with_suffix(".pyi").read_text())
    stub = {
        (alias.asname, f"{'.' * node.level}{node.module}")
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert stub == set(door._door.homes.items())


def test_a_name_is_looked_up_once() -> None:
    """A door that was asked for a name has it from then on, as any module does."""
    vars(api).pop("Score", None)
    assert api.Score is vars(api)["Score"]


def test_each_name_has_one_door() -> None:
    """A name that two doors held would be one that two pages explain."""
    names = [name for door in (*DOORS, stats) for name in door.__all__]
    assert sorted(set(names)) == sorted(names)


_IMPORT = re.compile(r"from (skillgauge\.api[.\w]*) import (?:\(([^)]*)\)|([^\n\\]+))")


def test_every_name_is_needed() -> None:
    """A plugin, a library, an example, a page or a test imports each name of a door from it."""
    imported: set[tuple[str, str]] = set()
    for folder in ("plugins", "libraries", "examples", "tests", "core/tests", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".in"):
                for door, several, some in _IMPORT.findall(path.read_text(encoding="utf-8")):
                    imported |= {(door, name) for name in re.findall(r"\w+", several or some)}
    promised = {(door.__name__, name) for door in DOORS for name in door.__all__}
    assert promised - imported == set()


@door
def test_every_name_exists_and_is_explained(door: ModuleType) -> None:
    """Each name can be imported, and each class and function has a docstring of its own."""
    for name in door.__all__:
        value = getattr(door, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


VALUES = (answers, frozen, suite, trial, runs, summaries, trials)


@pytest.mark.parametrize("module", [errors, *CONTRACT, *VALUES], ids=lambda one: one.__name__)
def test_nothing_is_forgotten(module: ModuleType) -> None:
    """Every public class, function and constant of the values, the protocols and the errors is exported."""
    own = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and ((getattr(value, "__module__", None) or "").startswith(module.__name__) or name.isupper())
    }
    assert own
    assert own - NOT_FOR_PLUGINS <= {*api.__all__, *run_door.__all__, *report_door.__all__}


def test_importing_is_light() -> None:
    """A plugin that announces itself pays for pydantic and pluggy, and for nothing that loads, logs or runs."""
    code = "import sys, skillgauge.api; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert {"stevedore", "structlog", "click", "yaml", "sqlite3"}.isdisjoint(done.stdout.split())
