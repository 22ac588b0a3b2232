"""The contract of stores."""

from itertools import count

from conftest import Service

from skillgauge_testkit import STORES, Maker, check_light_import, check_plugin, check_store

MODULE = "acme_shelf.plugin"


def test_store(service: Service) -> None:
    """Nothing committed is lost, also when the process is killed, and runs are resumed and do not meet."""
    numbers = count()
    check_store(Maker(STORES, MODULE), lambda: service.location(str(next(numbers))))


def test_announcement() -> None:
    """Hook, provider and entry point fit together, and announcing is cheap."""
    check_plugin(MODULE, "stores", options={"acme-shelf": {"location": "acme-shelf://127.0.0.1/team"}})
    check_light_import(MODULE)
