"""Functions that distributions add to the Python API: found when they are asked for, listed for completion."""

from __future__ import annotations

import importlib
import rlcompleter
import sys
from pathlib import Path

import pytest

import skillgauge
from skillgauge.api import PluginError


def announce(folder: Path, name: str, *, requires: str = "") -> None:
    """Install a distribution with a function `twice`."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
    (info / "entry_points.txt").write_text(f"[skillgauge.functions]\ntwice = made_up_{name}:twice\n")
    (folder / f"made_up_{name}.py").write_text("def twice(value):\n    return 2 * value\n")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which Python imports."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(folder)
    return folder


def test_a_function_of_a_distribution_is_called(elsewhere: Path) -> None:
    """It is there once its distribution is, and completion lists it."""
    assert not hasattr(skillgauge, "twice")
    announce(elsewhere, "doubling")
    importlib.invalidate_caches()
    assert skillgauge.twice(21) == 42
    assert "twice" in dir(skillgauge)
    del sys.modules["made_up_doubling"]


def test_a_name_of_two_distributions_is_told(elsewhere: Path) -> None:
    """Both are named, and neither is taken."""
    announce(elsewhere, "first")
    announce(elsewhere, "second")
    with pytest.raises(PluginError, match=r"first 1.0 and second 1.0"):
        _ = skillgauge.twice


def test_a_function_for_another_core_is_not_imported(elsewhere: Path) -> None:
    """The range of the core is said."""
    announce(elsewhere, "later", requires="Requires-Dist: skillgauge-core>=99\n")
    with pytest.raises(PluginError, match="needs skillgauge-core"):
        _ = skillgauge.twice
    assert "made_up_later" not in sys.modules


def test_what_is_not_installed_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of a distribution of ours that is absent comes with the command that installs it."""
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(AttributeError, match="pip install skillgauge-plots"):
        _ = skillgauge.forest_plot
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = skillgauge.nonsense


def test_tab_completes_the_package() -> None:
    """R3-F26: the completion of Python's own prompt lists what programs use."""
    completer = rlcompleter.Completer({"skillgauge": skillgauge})
    words = [completer.complete("skillgauge.", state) for state in range(60)]
    names = {word.removeprefix("skillgauge.").rstrip("()") for word in words if word}
    assert names >= {"evaluate", "aevaluate", "Settings", "runs", "forest_plot", "to_pandas", "api", "stats"}
    assert names.isdisjoint({"TYPE_CHECKING", "annotations"})
