"""A run that sends nothing hands nothing to anybody."""

from __future__ import annotations

import threading

import pytest

from skillgauge.plugins.installed import read_index
from skillgauge.plugins.registry import Registry
from skillgauge_testkit.contract import samples

ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


@pytest.mark.parametrize("named", [False, True])
def test_trials_are_told_only_where_a_receiver_is_named(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Telling takes a thread, which every trial would wake."""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", ENDPOINT):
        monkeypatch.delenv(name, raising=False)
    if named:
        monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9/v1/traces")
    events = Registry(read_index()).events()
    before = threading.active_count()
    events.trial_started(samples.trial(0))
    assert threading.active_count() - before == named
    events.close()
