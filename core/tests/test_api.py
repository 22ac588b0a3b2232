"""What plugin authors import: complete, documented, and nothing by accident."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from skillgauge import api, errors
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
from skillgauge.types import answers, result, suite, trial
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

NOT_FOR_PLUGINS = {"PROJECT", "TYPE_CHECKING", "T", "P", "PLAIN", "imported", "once"}
NOT_FOR_PLUGINS |= {"CaseFacts", "SuiteFacts", "TrialFacts"}
"""Names that the core needs for itself."""


def test_type_checkers_see_the_same() -> None:
    """Python reads every line of the stub as a type checker does."""
    tree = ast.parse(Path(api.__file__).with_suffix(".pyi").read_text())
    stub = {
        (alias.asname, f"{'.' * node.level}{node.module}")
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert stub == set(api._HOMES.items())


def test_every_name_exists_and_is_explained() -> None:
    """Each name can be imported, and each class and function has a docstring of its own."""
    for name in api.__all__:
        value = getattr(api, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


VALUES = (answers, frozen, suite, trial, result)


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
    assert own - NOT_FOR_PLUGINS <= set(api.__all__)


def test_importing_is_light() -> None:
    """A plugin that announces itself pays for pydantic and pluggy, and for nothing that loads, logs or runs."""
    code = "import sys, skillgauge.api; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert {"stevedore", "structlog", "click", "yaml", "sqlite3"}.isdisjoint(done.stdout.split())
