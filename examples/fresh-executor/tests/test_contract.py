"""The contract of executors."""

from skillgauge_testkit import EXECUTORS, Maker, check_executor, check_light_import, check_plugin

MODULE = "acme_fresh.plugin"


def test_executor() -> None:
    """Each trial runs once, and a run that is stopped leaves nothing behind, while processes are replaced."""
    make = Maker(EXECUTORS, MODULE)
    check_executor(lambda _concurrency: make({"trials": 7}), patience_s=120)


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "executors")
    check_light_import(MODULE)
