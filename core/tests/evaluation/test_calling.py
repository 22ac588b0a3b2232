"""Evaluations from Python and from the command line, in the process that asks for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import skillgauge
from skillgauge.types.suite import Case
from skillgauge_testkit.program import Program


def test_what_is_loaded_is_formatted_nowhere(tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """R3-V9: neither `validate` nor Python has every case written out for a message of Python that nobody sees."""
    (tmp_path / "SKILL.md").write_text("---\nname: labels\ndescription: Writes labels.\n---\n\nWrite the label.\n")
    case = {"name": "one", "prompt": "label a box", "validators": [{"cmd": "true"}]}
    (tmp_path / "eval.yaml").write_text(json.dumps({"cases": [case]}))
    formatted: list[str] = []

    def formatting(self: Case) -> str:
        formatted.append(self.id)
        return self.id

    monkeypatch.setattr(Case, "__repr__", formatting)
    program("validate", str(tmp_path))
    assert len(skillgauge.planned_cases(tmp_path, engine="mock")) == 2
    skillgauge.evaluate(tmp_path, engine="mock", sandbox="local")
    assert formatted == []
