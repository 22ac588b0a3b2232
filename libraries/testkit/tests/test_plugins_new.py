"""The command line of `plugins new`."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillgauge.cli.app import run
from skillgauge_testkit.new_command import NewPluginDocument


class TestCommand:
    """The command line."""

    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
        monkeypatch.delenv("COLUMNS", raising=False)

    def call(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, Sequence[str]]:
        """Exit code, stdout and the lines of stderr."""
        code = run(["plugins", "new", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err.splitlines()

    def test_for_people(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The files go to stdout, the next steps and the verdict to stderr."""
        code, out, err = self.call(capsys, "scorer", "acme-tone")
        assert code == 0
        assert all(Path(line).is_file() for line in out.splitlines())
        assert Path("skillgauge-scorer-acme-tone/pyproject.toml") in map(Path, out.splitlines())
        steps = "cd skillgauge-scorer-acme-tone && pip install -e '.[test]' && python -m pytest"
        kept = "its summary is that of the example, 'The answer holds none of some phrases.'"
        assert err == [
            f"next: {steps}",
            f"{kept}: see plugin.py and pyproject.toml",
            "made scorer 'acme-tone'; its README.md says how to use it",
        ]

    def test_the_next_step_is_one_line(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """However narrow the terminal is, it can be copied as a whole."""
        monkeypatch.setenv("COLUMNS", "60")
        _, _, err = self.call(capsys, "scorer", "acme-tone")
        steps = "cd skillgauge-scorer-acme-tone && pip install -e '.[test]' && python -m pytest"
        assert any(line.strip().removeprefix("next: ") == steps for line in err), err

    def test_a_summary_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        """What `--summary` says stands in the announcement and in the wheel, and what fits into neither is refused."""
        code, _, err = self.call(capsys, "scorer", "acme-tone", "--summary", "The answer's tone is right.")
        assert (code, len(err)) == (0, 2)
        project = tomllib.loads(Path("skillgauge-scorer-acme-tone/pyproject.toml").read_text("utf-8"))["project"]
        assert project["description"] == "The answer's tone is right."
        announced = Path("skillgauge-scorer-acme-tone/src/skillgauge_scorer_acme_tone/plugin.py").read_text("utf-8")
        assert 'summary="The answer\'s tone is right."' in announced
        for wrong in ('say "please"', "two\nlines", "back\\slash", "x" * 81):
            code, _, err = self.call(capsys, "scorer", "acme-manner", "--summary", wrong)
            assert code == 2
            assert "cannot be the summary of a plugin" in err[0]
        assert not Path("skillgauge-scorer-acme-manner").exists()

    @pytest.mark.slow
    def test_for_programs(self, capsys: pytest.CaptureFixture[str]) -> None:
        """One document of the schema that `schema plugins-new` prints; with --dir the folder is there."""
        Path("mine").mkdir()
        code, out, _ = self.call(capsys, "commands", "acme-tone", "--dir", "mine", "--json")
        assert code == 0
        document = NewPluginDocument.model_validate_json(out)
        assert document.folder == os.path.join("mine", "skillgauge-command-acme-tone")  # noqa: PTH118 - as printed
        assert all((Path(document.folder) / file).is_file() for file in document.files)
        assert run(["schema", "plugins-new"]) == 0
        assert json.loads(capsys.readouterr().out) == NewPluginDocument.model_json_schema()

    @pytest.mark.parametrize("words", [("scorrer", "Acme"), ("scorers", "acme", "--dir", "nowhere"), ("scorers",)])
    def test_what_cannot_be_made(self, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
        """Exit code 2, the problems as the one document, and no file."""
        code, out, _ = self.call(capsys, *words, "--json")
        assert code == 2
        assert json.loads(out)["exit_code"] == 2
        assert not list(Path.cwd().glob("skillgauge-*"))

    def test_info_and_kinds_that_are_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`plugins info` tells a misspelt kind and an absent command like everything else that is absent."""
        assert run(["plugins", "info", "scorrers", "exact"]) == 2
        assert "did you mean scorers" in capsys.readouterr().err
        assert run(["plugins", "info", "command", "no-such-command"]) == 2
        assert "publishes none of that name" in capsys.readouterr().err
