"""The contract of sandboxes."""

from __future__ import annotations

import pytest

from skillgauge_testkit import SANDBOXES, Maker, check_light_import, check_plugin, check_sandbox

MODULE = "skillgauge_sandbox_bubblewrap.plugin"


@pytest.mark.usefixtures("bubblewrap", "any_way")
def test_sandbox() -> None:
    """Files, limits, environment and ends of processes are as every sandbox promises."""
    check_sandbox(Maker(SANDBOXES, MODULE))


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "sandboxes")
    check_light_import(MODULE)
