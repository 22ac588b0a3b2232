"""The contract of sandboxes, kept by containers."""

from __future__ import annotations

from functools import partial

import pytest

from skillgauge_testkit import SANDBOXES, Maker, check_light_import, check_plugin, check_sandbox

from .conftest import StandIn

MODULE = "skillgauge_sandbox_docker.plugin"


@pytest.mark.slow
def test_sandbox(stand_in: StandIn) -> None:
    """Files, limits, environment and ends of processes are as every sandbox promises; no container is left."""
    check_sandbox(partial(Maker(SANDBOXES, MODULE), {"program": stand_in.program}), patience_s=30.0)
    assert stand_in.containers == []


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "sandboxes")
    check_light_import(MODULE)
