"""What the plugin announces."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from pydantic import ValidationError

from skillgauge_store_sqlite import plugin
from skillgauge_store_sqlite.options import SqliteOptions


def test_entry_point_names_the_hook_module() -> None:
    """`--store` finds the plugin under the name `sqlite`."""
    (found,) = entry_points(group="skillgauge.stores", name="sqlite")
    assert found.load() is plugin
    assert found.dist is not None
    assert found.dist.name == "skillgauge-store-sqlite"


def test_provider_makes_a_durable_store(tmp_path: Path) -> None:
    """The factory turns validated options into a store, which makes no file before it is used."""
    (provider,) = plugin.skillgauge_stores()
    made = provider.make(provider.options.model_validate({"location": str(tmp_path / "x.db")}))
    assert (provider.name, made.durable, provider.traits.schemes) == ("sqlite", True, ("file",))
    assert list(tmp_path.iterdir()) == []


def test_options_are_strict_and_frozen() -> None:
    """A misspelt option is refused, the default is a file in the current folder, and options cannot change."""
    assert SqliteOptions().location == "./skillgauge.db"
    with pytest.raises(ValidationError, match="locaton"):
        SqliteOptions.model_validate({"locaton": "x.db"})
    with pytest.raises(ValidationError, match="frozen"):
        SqliteOptions().location = "y"  # type: ignore[misc]  # the point of the test


def test_announcing_does_not_load_sqlite() -> None:
    """Listing plugins costs nothing: the hook module loads neither SQLite nor the store."""
    code = (
        "import sys, skillgauge.api; loaded = set(sys.modules)\n"
        "from skillgauge_store_sqlite.plugin import skillgauge_stores; list(skillgauge_stores())\n"
        "print(*sorted(name for name in set(sys.modules) - loaded if 'sqlite' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = "skillgauge_store_sqlite"
    assert done.stdout.split() == [own, f"{own}.options", f"{own}.plugin"]
