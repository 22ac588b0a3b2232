"""The contract of stores."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from skillgauge_testkit import STORES, Maker, check_light_import, check_plugin, check_store

MODULE = "skillgauge_store_sqlite.plugin"


def test_store(tmp_path: Path) -> None:
    """What is committed stays, runs are resumed and kept apart, and all can be read again."""
    numbers = count()
    check_store(Maker(STORES, MODULE), lambda: str(tmp_path / f"{next(numbers)}.db"))


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "stores")
    check_light_import(MODULE)
