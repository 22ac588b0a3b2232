"""Options of plugins that are not here."""

from __future__ import annotations

from pathlib import Path

from skillgauge.config.config_files import load_config
from skillgauge.errors import Severity
from skillgauge.evaluation.strangers import strangers
from skillgauge.plugins.index import PluginIndex
from skillgauge.plugins.registry import Registry

HERE = """
plugins:
  block: [left-out]
  scorers:
    exact: {case_sensitive: true}
    exct: {case_sensitive: true}
    left-out: {x: 1}
"""


def test_only_what_is_published_may_be_elsewhere(tmp_path: Path) -> None:
    """In a file: what skillgauge publishes is a warning with its install line, a name that nobody knows an error."""
    file = tmp_path / "own.yaml"
    file.write_text(HERE)
    index = PluginIndex()
    config = load_config(cwd=tmp_path, flags={}, environ={}, explicit=file)
    found = {one.message.split(" ")[0]: one for one in strangers(config, Registry(index), index)}
    assert {key: one.severity for key, one in found.items()} == {
        "scorers.exact.case_sensitive": Severity.WARNING,
        "scorers.exct.case_sensitive": Severity.ERROR,
    }
    assert found["scorers.exact.case_sensitive"].hint == "pip install skillgauge-scorer-exact"
    assert "plugins.block" in (found["scorers.exct.case_sensitive"].hint or "")


def test_on_the_command_line_it_has_to_be_here(tmp_path: Path) -> None:
    """Whoever types an option of a plugin that is not installed means it."""
    index = PluginIndex()
    flags = {"plugins.scorers.exact.case_sensitive": True}
    config = load_config(cwd=tmp_path, flags=flags, environ={})
    (problem,) = strangers(config, Registry(index), index)
    assert problem.severity is Severity.ERROR
    assert problem.hint == "pip install skillgauge-scorer-exact"
