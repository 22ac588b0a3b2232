"""The contract of reporters."""

from __future__ import annotations

from skillgauge.api.report import RunView
from skillgauge_testkit import REPORTERS, Maker, check_light_import, check_plugin, check_reporter

MODULE = "skillgauge_reporter_record.plugin"


def everything(view: RunView) -> object:
    """A record loses nothing."""
    return view.run, view.head, view.summary, list(view.results())


def test_reporter() -> None:
    """Runs of every sort become a record and come back whole."""
    check_reporter(Maker(REPORTERS, MODULE), reads_back=True, keeps=everything)


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "reporters")
    check_light_import(MODULE)
