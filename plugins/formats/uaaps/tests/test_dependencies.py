"""Packages that need others: their skills are installed from a folder that the user names, and from nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

SKILL = "---\nname: {name}\ndescription: Does {name}.\n---\nDo {name}.\n"


def write_package(folder: Path, name: str, skill: str, version: str = "1.4.2", **dependencies: object) -> None:
    """A package with one skill."""
    (folder / "skills" / skill).mkdir(parents=True)
    (folder / "skills" / skill / "SKILL.md").write_text(SKILL.format(name=skill))
    manifest = {"name": name, "version": version, "description": "A package.", "dependencies": dependencies}
    (folder / "package.agent.json").write_text(json.dumps(manifest))


@pytest.fixture
def package(work: Path) -> Path:
    """A package with one case that needs nobody's judgement but the mock's, and a folder for others."""
    folder = work / "main"
    write_package(folder, "main", "own", **{"@acme/tables": "^1.2.0"})
    (folder / "evals/cases").mkdir(parents=True)
    (folder / "evals/eval-config.json").write_text(json.dumps({"version": 1, "engine": "mock"}))
    case = "name: says\ninput: {prompt: Say it}\nexpected: {contains: [said]}\njudge: {criteria: It is said.}\n"
    (folder / "evals/cases/01.yaml").write_text(case)
    (work / "others").mkdir()
    return folder


def planned(program: Program, *options: str) -> Done:
    """What a dry run says."""
    replies = json.dumps([{"text": "said"}])
    settings = ("--set", f"engines.mock.replies={replies}", "--engine", "mock", "--judge", "mock")
    return program("eval", "main", *settings, *options)


FOLDER = ("--set", "formats.uaaps.packages=others")


def test_skills_of_dependencies_are_installed(program: Program, package: Path, work: Path) -> None:
    """Those of what is needed and of what that needs, each once, also in a circle."""
    assert package
    write_package(work / "others/@acme/tables", "@acme/tables", "tables", words={"version": "*"})
    write_package(work / "others/words", "words", "words", **{"@acme/tables": "~1.4.0", "main": "1.4.2"})
    done = planned(program, *FOLDER, "--json", "--format", "record")
    assert "results" in done.document, done.stderr
    (result,) = done.document["results"]
    assert sorted(result["execution"]["trajectory"]["skills_offered"]) == ["own", "tables", "words"]


def test_a_name_that_leads_elsewhere(program: Program, package: Path) -> None:
    """It is refused, whatever lies there."""
    write_package(package.parent / "secret", "secret", "secret")
    manifest = package / "package.agent.json"
    manifest.write_text(manifest.read_text().replace("@acme/tables", "../secret"))
    done = planned(program, *FOLDER, "--dry-run")
    assert (done.code, "'../secret' cannot be the name of a package" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "version", "skill", "options", "code", "told"),
    [
        ("@acme/tables", "1.4.2", "tables", (), 0, "warning[suite.dependency]: package '@acme/tables'"),
        ("@acme/tables", "2.0.0", "tables", FOLDER, 2, "is there as 2.0.0, and ^1.2.0 is wanted"),
        ("@acme/tables", "1.4.2", "own", FOLDER, 2, "skill 'own' is in 'main' and in '@acme/tables'"),
        ("@acme/chairs", "1.4.2", "tables", FOLDER, 2, "is package '@acme/chairs', not '@acme/tables'"),
        (None, "", "", FOLDER, 2, "is not in"),
    ],
)
def test_what_is_wrong_with_a_dependency(
    program: Program,
    package: Path,
    work: Path,
    name: str | None,
    version: str,
    skill: str,
    options: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    """It is told at its line of the manifest, and nothing runs; without a folder it is told and left out."""
    assert package
    if name:
        write_package(work / "others/tables", name, skill, version)
    done = planned(program, *options, "--dry-run")
    assert done.code == code, done.stderr
    assert told in done.stderr
    assert "main/package.agent.json:1:" in done.stderr
