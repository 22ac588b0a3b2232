"""What a message tells to install comes from the project's own table; nothing that a suite says is in a command.

Findings: F-6, T-M3, P-S8.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from members import ROOT
from published import TABLE, table
from skillgauge.api.run import install_hint
from skillgauge_testkit.program import Program


def test_the_table_is_what_the_project_has() -> None:
    """Every plugin with every name, and no other: `python .ci/published.py` writes it."""
    assert TABLE.read_text() == table(), "run: python .ci/published.py"


_UNPUBLISHED = re.compile(r"pip install [^\n`]*\bskillgauge\b(?!\.)")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_that_installs_says_from_where(page: Path) -> None:
    """F-6: whoever begins with any page learns there that nothing is published yet, and what to say first."""
    text = page.read_text("utf-8")
    assert not _UNPUBLISHED.search(text) or "PIP_FIND_LINKS" in text or "(install.md)" in text


def test_only_names_of_the_table_become_a_command() -> None:
    """An alias gives the distribution that has it; a distribution in front counts only if it is that one."""
    assert install_hint("scorers", "exact") == "pip install skillgauge-scorer-exact"
    assert install_hint("adapters", "custom") == "pip install skillgauge-adapter-python"
    assert install_hint("scorers", "skillgauge-scorer-exact:exact") == "pip install skillgauge-scorer-exact"
    strangers = ["evil", "x --index-url http://evil", "evil-dist:exact", "regexp", "bwrap", "", ":", "engines"]
    for kind in ("scorers", "adapters", "sandboxes", "stores", "nothing"):
        for name in strangers:
            assert "pip" not in install_hint(kind, name), (kind, name)


SKILL = {"id": "s", "name": "s", "version": "1.0.0", "description": "d", "tags": [], "inputSchema": {}}
SKILL |= {"outputSchema": {}, "entrypoint": "python3 skill.py", "metadata": {}}


@pytest.mark.parametrize("evil", ["evil", "x --index-url http://evil.example", "evilco-scorer", "evil-dist:exact"])
def test_a_suite_gets_no_word_into_a_command(program: Program, work: Path, evil: str) -> None:
    """Neither the kind of a skill nor of an evaluator is in any line that says what to do."""
    task = {"id": "t", "description": "t", "inputData": {}, "expectedOutput": {}, "evaluator": {"type": evil}}
    (work / "tasks.json").write_text(json.dumps([task]))
    (work / "skill.json").write_text(json.dumps(SKILL | {"adapterType": evil}))
    done = program("eval", "--skills", "skill.json", "--tasks", "tasks.json", "--json")
    assert done.code == 2
    found = done.document["problems"]
    assert found
    for one in found:
        assert "evil" not in (one["hint"] or ""), one
        assert "--index-url" not in (one["hint"] or ""), one
    told = [line for line in done.stderr.splitlines() if "next:" in line or "pip" in line]
    assert not [line for line in told if "evil" in line]


def test_a_name_that_is_no_plugins_gets_no_command(program: Program) -> None:
    """What a user mistypes is not made up into a distribution that anybody could register."""
    for words in (("--sandbox", "bwrap"), ("--store", "mysql://host/db"), ("--judge", "gpt")):
        done = program("eval", ".", *words, "--dry-run")
        assert "pip install skillgauge-sandbox-bwrap" not in done.stderr
        assert "skillgauge-store-mysql" not in done.stderr
        assert "skillgauge-judge-gpt" not in done.stderr
    assert "skillgauge-command-nothing" not in program("plugins", "info", "commands", "nothing").stderr
