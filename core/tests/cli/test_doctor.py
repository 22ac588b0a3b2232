"""`plugins doctor` tells what is broken from what merely lacks something."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.cli.doctor import Finding, State, chosen, examined, verdict_of
from skillgauge.cli.examination import examine
from skillgauge.cli.plugins_document import PluginsDocument
from skillgauge.errors import ExitCode, UsageError
from skillgauge.plugins.installed import read_index
from skillgauge.terminal.output import Output
from skillgauge_testkit.program import Program

WORKS, LACKS, BROKEN = (Finding(state) for state in (State.WORKING, State.LACKING, State.BROKEN))


@pytest.mark.parametrize(
    ("findings", "named", "code"),
    [
        ([WORKS, LACKS], False, ExitCode.OK),
        ([WORKS, LACKS], True, ExitCode.USAGE),
        ([WORKS, BROKEN], False, ExitCode.USAGE),
        ([WORKS], True, ExitCode.OK),
    ],
)
def test_what_is_unhealthy(findings: list[Finding], named: bool, code: ExitCode) -> None:
    """P-M7: a key that nobody may need is no failure, unless its plugin was asked for by name."""
    found, verdict = verdict_of(findings, named=named)
    assert found is code
    assert verdict.startswith("healthy: " if code is ExitCode.OK else "unhealthy: ")


def test_names_that_are_nobodys_are_refused() -> None:
    """All of them, each with what is near."""
    entries = read_index().entries()
    with pytest.raises(UsageError) as caught:
        chosen(entries, ["mock", "claude-cod", "nothing-like-it"])
    assert [problem.code for problem in caught.value.problems] == ["plugin.not-installed"] * 2
    assert "did you mean claude-code" in caught.value.problems[0].message
    assert {entry.kind for entry in chosen(entries, ["mock"])} == {"engines", "judges"}
    assert [entry.name for entry in chosen(entries, ["engines/mock"])] == ["mock"]


@pytest.mark.slow
@pytest.mark.e2e
def test_working_and_lacking(program: Program) -> None:
    """F-12: what lacks a key says which; it is healthy, and no table row or verdict says that it does not work."""
    done = program("plugins", "doctor", "engines/mock", "judges/anthropic", "--json")
    assert done.code == 2
    told = PluginsDocument.model_validate(done.document).plugins
    assert [(one.kind, one.healthy, one.problem) for one in told] == [("engines", True, None), ("judges", True, None)]
    assert told[0].lacks is None
    assert "ANTHROPIC_API_KEY" in (told[1].lacks or "")
    fine = program("plugins", "doctor", "engines/mock")
    assert (fine.code, fine.verdict) == (0, "healthy: 1 of 1 plugin work")
    assert fine.stdout.splitlines()[1].startswith("works")


def test_a_mere_name_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of configuration files are announced as entry points, and nothing of them is ever imported."""
    monkeypatch.setattr("subprocess.Popen", None)
    (entry, *_) = read_index().entries("config_files")
    assert examined([entry], Output(as_json=False, quiet=True)) == [Finding(State.WORKING)]


KEYED = """
from skillgauge.api import Provider, Traits, hookimpl

class Keyed:
    version = "1"

    async def score(self, context):
        raise NotImplementedError

@hookimpl
def skillgauge_scorers():
    yield Provider(name="acme-keyed", factory=Keyed, summary="s", traits=Traits(secrets=("ACME_KEYED",)))
"""


@pytest.mark.slow
def test_a_key_that_nothing_checks(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What announces a secret and has no `check` lacks it as well: `doctor` and `info` say so."""
    (tmp_path / "acme_keyed.py").write_text(KEYED)
    facts = tmp_path / "acme_keyed-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-keyed\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[skillgauge.scorers]\nacme-keyed = acme_keyed\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("ACME_KEYED", raising=False)
    line = "it needs a key: ACME_KEYED (none is set)"
    assert examine("scorers", "acme-keyed") == ([], [line], "")
    assert line in program("plugins", "info", "scorers", "acme-keyed").stdout.splitlines()
    monkeypatch.setenv("ACME_KEYED", "made-up")
    assert examine("scorers", "acme-keyed") == ([], [], "")


OPTIONED = """
from pydantic import BaseModel
from skillgauge.api import Problem, Provider, hookimpl

class Options(BaseModel):
    place: str = "here"

class Optioned:
    version = "1"

    def __init__(self, options):
        self.options = options

    async def check(self):
        return (Problem("acme.place", f"nothing is at {self.options.place}"),)

    async def score(self, context):
        raise NotImplementedError

@hookimpl
def skillgauge_scorers():
    yield Provider(name="acme-optioned", factory=Optioned, options=Options, summary="s")
"""


@pytest.mark.slow
def test_options_of_the_command_line_are_heeded(program: Program, tmp_path: Path) -> None:
    """What `--set` says of a plugin is what it is checked with, as `eval` would use it."""
    (tmp_path / "acme_optioned.py").write_text(OPTIONED)
    facts = tmp_path / "acme_optioned-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-optioned\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[skillgauge.scorers]\nacme-optioned = acme_optioned\n")
    env = {"PYTHONPATH": str(tmp_path)}
    words = ("plugins", "doctor", "acme-optioned")
    assert "nothing is at here" in program.process(*words, env=env).stdout
    assert (
        "nothing is at there" in program.process(*words, "--set", "scorers.acme-optioned.place=there", env=env).stdout
    )
