"""What is said before a command begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.cli.options import Globals
from skillgauge.errors import UsageError
from skillgauge.evaluation import invocation as module
from skillgauge.plugins.index import PluginIndex
from skillgauge_documents import JsonValue, reading


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("engines.mock.script=x", "pip install skillgauge-engine-mock"),
        ("engines.acme.script=x", "skillgauge itself publishes none of that name"),
    ],
)
def test_an_option_of_an_absent_plugin_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, hint: str
) -> None:
    """If it is one of ours; what somebody else's is called is not for us to guess."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module, "read_index", lambda: PluginIndex(()))
    with pytest.raises(UsageError) as caught:
        module.invocation(Globals(assign=(option,)))
    (problem,) = caught.value.problems
    assert hint in (problem.hint or "")


def test_a_document_is_parsed_once_for_all_reporters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them looks at it, in the order of their names, until one knows it."""
    parsed: list[str] = []
    really = reading.parse

    def parse(text: str, kind: reading.Kind) -> JsonValue:
        parsed.append(text)
        return really(text, kind)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(reading, "parse", parse)
    path = tmp_path / "unknown.json"
    path.write_text('{"results": []}')
    with pytest.raises(UsageError, match=r"no installed reporter knows this document \(installed: .*eval-skills"):
        module.invocation(Globals()).read_run(path)
    assert parsed == [path.read_text()]
