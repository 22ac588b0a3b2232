"""The contract of formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge_testkit import FORMATS, Maker, check_format, check_light_import, check_plugin

from .conftest import DATA

MODULE = "skillgauge_format_uaaps.plugin"


@pytest.mark.slow
def test_format(tmp_path: Path) -> None:
    """Packages are recognised, read, and refused with places when something in them is wrong."""
    package = tmp_path / "package.json"
    package.write_text('{"name": "a", "version": "1.0.0"}')
    eval_config = tmp_path / "evals/eval-config.json"
    eval_config.parent.mkdir()
    eval_config.write_text('{"version": 1, "engine": "codex"}')
    check_format(
        Maker(FORMATS, MODULE),
        samples=[DATA / "word-tools"],
        foreign=[package, tmp_path, eval_config, eval_config.parent],
        options={"stage": "tests"},
        round_trip=False,
    )
    check_format(Maker(FORMATS, MODULE), samples=[DATA / "word-tools"], foreign=[package, eval_config])


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "formats")
    check_light_import(MODULE)
