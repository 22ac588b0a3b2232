"""Commands that plugins add: what is said where the plugin is absent, and where it is blocked."""

from __future__ import annotations

import pytest

from skillgauge.cli import groups
from skillgauge.cli.app import run
from skillgauge.plugins.index import IndexEntry, PluginIndex

ENTRIES = (
    IndexEntry("commands", "history", "history_of_runs:command", "skillgauge-command-history", "0.1.0"),
    IndexEntry("commands", "acme", "no_such_module:command", "acme-tools", "1.0"),
)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["view"], "skillgauge view is not installed; pip install skillgauge-command-view"),
        (["plugins", "new"], "skillgauge plugins new is not installed; pip install skillgauge-testkit"),
        (["--no-plugin", "history", "history"], "there is no command 'history'"),
        (["--no-plugin", "acme", "acme"], "there is no command 'acme'"),
        (["viewer-of-mine"], "there is no command 'viewer-of-mine'"),  # and not that `acme` cannot be loaded
    ],
)
def test_a_command_that_is_not_there(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what is published, and not on this machine, comes with what to install."""
    monkeypatch.setattr(groups, "read_index", lambda: PluginIndex(ENTRIES))
    assert run(words) == 2
    stderr = capsys.readouterr().err
    assert told in stderr
    assert ("pip install" in stderr) == ("pip install" in told)
