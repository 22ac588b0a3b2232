"""The contract of executors."""

import pytest

from skillgauge_testkit import EXECUTORS, Maker, check_executor, check_light_import, check_plugin

MODULE = "skillgauge_executor_processes.plugin"


def test_announcement() -> None:
    """Hook, provider, object and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "executors")
    check_light_import(MODULE)


@pytest.mark.slow
def test_contract() -> None:
    """Each trial runs once in some worker, and a run that is stopped or closed has nothing under way any more."""
    make = Maker(EXECUTORS, MODULE)
    check_executor(lambda _concurrency: make({"workers": 2}))
