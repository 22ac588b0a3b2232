"""The package as a whole: public names, light import, no reach into the rest, examples that run."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillgauge import stats

MODULES = sorted(module.name for module in pkgutil.walk_packages(stats.__path__, "skillgauge.stats."))


def test_all_lists_every_public_name_of_the_modules() -> None:
    """`__all__` is what the modules define publicly, no more and no less."""
    defined = set()
    for name in MODULES:
        module = importlib.import_module(name)
        if not name.rpartition(".")[2].startswith("_"):
            defined |= {
                key
                for key, value in vars(module).items()
                if not key.startswith("_") and (key.isupper() or getattr(value, "__module__", None) == module.__name__)
            }
    assert set(stats.__all__) >= defined
    assert all(hasattr(stats, name) for name in stats.__all__)
    assert len(stats.__all__) == len(set(stats.__all__)) == len(defined)


@pytest.mark.parametrize("name", stats.__all__)
def test_functions_document_their_contract(name: str) -> None:
    """Every public function says what it takes, returns and raises, and where its formula comes from."""
    value = getattr(stats, name)
    if inspect.isfunction(value):
        for section in ("Args:", "Returns:", "Raises:", "Source:"):
            assert section in (value.__doc__ or ""), f"{name} lacks {section}"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    """Every example prints what its docstring shows."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_import_is_light_and_stands_alone() -> None:
    """The import loads neither `statistics` nor any other part of skillgauge nor a third-party package."""
    root = Path(inspect.getfile(stats)).parents[2]
    program = (
        f"import sys; sys.path.insert(0, {str(root)!r}); before = set(sys.modules)\n"
        "import skillgauge.stats\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    # -I -S: without site-packages, so that a third-party import would fail outright.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = done.stdout.split()
    assert "skillgauge.stats" in loaded
    assert not {"statistics", "decimal", "fractions", "asyncio", "logging"} & set(loaded)
    foreign = [name for name in loaded if name.startswith("skillgauge.") and name.split(".")[1] != "stats"]
    assert foreign == []
