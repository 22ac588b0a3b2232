"""The kernel stays small, modules stay readable, and imports go the way that the contracts allow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import imports
import size_budget
from members import ROOT


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


def test_size_budget_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """Kernel, modules and functions are within their limits, and the kernel's size is printed."""
    assert size_budget.problems() == []
    assert size_budget.main() == 0
    assert capsys.readouterr().out.startswith(f"kernel: {size_budget.kernel_lines()} lines")


def test_size_budget_sees_what_is_too_long(tmp_path: Path) -> None:
    """A long module, a long function and a large kernel are each found; tests and the apart packages do not count."""
    kernel = tmp_path / "core/src/skillgauge"
    plugin = tmp_path / "plugins/scorers/long/src/skillgauge_scorer_long"
    for folder in (kernel / "stats", plugin, tmp_path / "plugins/scorers/long/tests"):
        folder.mkdir(parents=True)
    (kernel / "big.py").write_text("\n" * (size_budget.KERNEL_LIMIT + 1))
    (kernel / "stats/rates.py").write_text("x = 1\n")
    (plugin / "__init__.py").write_text("async def run():\n" + "    pass\n" * size_budget.FUNCTION_LIMIT)
    (tmp_path / "plugins/scorers/long/tests/test_it.py").write_text("\n" * 1_000)
    limit = size_budget.KERNEL_LIMIT
    assert size_budget.kernel_lines(tmp_path) == limit + 1
    assert size_budget.problems(tmp_path) == [
        f"core/src/skillgauge: the kernel has {limit + 1} lines, the limit is {limit}",
        f"core/src/skillgauge/big.py: {limit + 1} lines, the limit is 400",
        "plugins/scorers/long/src/skillgauge_scorer_long/__init__.py:1: function run has 61 lines, the limit is 60",
    ]
