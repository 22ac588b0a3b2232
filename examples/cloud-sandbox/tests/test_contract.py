"""The contract of sandboxes."""

from conftest import Service

from skillgauge_testkit import SANDBOXES, Maker, check_light_import, check_plugin, check_sandbox

MODULE = "acme_cloud.plugin"


def test_sandbox(service: Service) -> None:
    """Files, limits, environment, and nothing is left; the folders of the stand-in lie on this machine."""
    check_sandbox(lambda: Maker(SANDBOXES, MODULE)({"url": service.url}), where=lambda path: path)
    assert service.workspaces() == []


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "sandboxes")
    check_light_import(MODULE)
