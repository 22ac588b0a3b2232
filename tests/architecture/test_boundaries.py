"""The kernel stays small, modules stay readable, and imports go the way that the contracts allow."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import imports
import size
from members import ROOT


@pytest.mark.slow
def test_imports_keep_the_contracts() -> None:
    """import-linter finds every contract of the root pyproject.toml kept."""
    done = subprocess.run(
        [sys.executable, ROOT / ".ci/imports.py"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_contracts_are_about_every_plugin() -> None:
    """A word that stands for packages becomes each of them, once per text that holds it."""
    contract = ["skillgauge", "skillgauge_* -> skillgauge.api"]
    assert imports.expanded(contract, {"skillgauge_*": ["skillgauge_a", "skillgauge_b"]}) == [
        "skillgauge",
        "skillgauge_a -> skillgauge.api",
        "skillgauge_b -> skillgauge.api",
    ]
    assert imports.expanded("layers", {"skillgauge_*": ["skillgauge_a"]}) == "layers"


@pytest.mark.slow
def test_sizes_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Modules, functions and the core are within their limits, and the size of each folder is printed."""
    assert size.problems() == []
    assert size.main() == 0
    printed = capsys.readouterr().out
    for room, count in size.rooms().items():
        assert f"{room or 'beside the rooms'}: {count} lines of code" in printed


def test_what_counts_as_code() -> None:
    """Comments, blank lines and docstrings are free, those of fields too; a text that is used is code."""
    source = (
        '"""A module."""\n\nimport os  # for paths\n\n# A reason.\nA = 1\n"""What A is,\nin two lines."""\n'
        'B = """\none\n"""\n\n\ndef f():\n    """Do it."""\n    return (\n        A\n    )\n'
    )
    assert size.code_lines(source) == 1 + 1 + 3 + 1 + 3


@pytest.mark.slow
def test_sizes_see_what_is_too_long(tmp_path: Path) -> None:
    """A long module, a long function and a core that has grown past the alarm are each found; tests are not counted."""
    core = tmp_path / "core/src/skillgauge"
    plugin = tmp_path / "plugins/scorers/long/src/skillgauge_scorer_long"
    for folder in (core / "cli", core / "report", core / "stats", plugin, tmp_path / "plugins/scorers/long/tests"):
        folder.mkdir(parents=True)
    lines, modules = 390, size.CORE_ALARM // 390
    for number in range(modules):
        (core / f"cli/part_{number}.py").write_text("x = 1\n" * lines)
    (core / "report/rest.py").write_text("x = 1\n" * (size.CORE_ALARM - lines * modules))
    (core / "stats/sums.py").write_text("x = 1\n" * 300)
    assert size.problems(tmp_path) == []
    (core / "report/big.py").write_text("\n" * 400 + "x = 1\n")
    (plugin / "__init__.py").write_text("async def run():\n" + "    pass\n" * size.FUNCTION_LIMIT)
    (tmp_path / "plugins/scorers/long/tests/test_it.py").write_text("\n" * 1_000)
    assert size.problems(tmp_path) == [
        f"core/src/skillgauge: {size.CORE_ALARM + 1} lines of code without stats, the alarm is at {size.CORE_ALARM}",
        "core/src/skillgauge/report/big.py: 401 lines, the limit is 400",
        "plugins/scorers/long/src/skillgauge_scorer_long/__init__.py:1: function run has 61 lines, the limit is 60",
    ]


def test_every_room_is_on_the_map() -> None:
    """docs/architecture.md names each room of the core and nothing that is none, and what else lies there."""
    page = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \|", page, flags=re.MULTILINE)
    core = ROOT / "core/src/skillgauge"
    assert sorted(rows) == sorted(path.name for path in core.iterdir() if (path / "__init__.py").exists())
    beside = {path.name for path in core.glob("*.py")} - {"__init__.py"}
    assert {name for name in beside if f"`{name}`" not in page} == set()
    named = set(re.findall(r"`(\w+/\w+\.py)`", page))
    assert {name for name in named if not (core / name).exists()} == set()
