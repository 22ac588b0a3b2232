"""The contract of reporters."""

from __future__ import annotations

import pytest

from skillgauge_testkit import REPORTERS, Maker, check_light_import, check_plugin, check_reporter

MODULE = "skillgauge_reporter_html.plugin"


@pytest.mark.slow
def test_reporter() -> None:
    """Runs of every sort become a well-formed page, the same every time."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=False)


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)
