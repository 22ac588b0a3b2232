"""The command as users run it, and the configuration that it makes as skillgauge reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from skillgauge_command_init.command import schemas
from skillgauge_testkit.program import Program

MADE = ["skillgauge.config.yaml", "skills/", "benchmarks/", "reports/"]
KEYS = {"concurrency": 4, "timeoutMs": 30000, "outputDir": "./reports"}


@pytest.mark.e2e
@pytest.mark.requirement("ES-INIT-001", "ES-INIT-002")
def test_here_and_again(program: Program, work: Path) -> None:
    """The first run says what it made, the second that each exists, both with exit code 0."""
    done = program("init")
    assert (done.code, done.stderr) == (0, "4 created, 0 already present\n")
    assert [line.split() for line in done.stdout.splitlines()] == [["created", name] for name in MADE]
    assert sorted(path.name for path in work.iterdir()) == sorted(name.rstrip("/") for name in MADE)
    again = program("init")
    assert (again.code, again.stderr) == (0, "0 created, 4 already present\n")
    assert [line.split() for line in again.stdout.splitlines()] == [["exists", name] for name in MADE]


@pytest.mark.e2e
@pytest.mark.requirement("ES-INIT-001")
def test_elsewhere_as_json(program: Program, work: Path) -> None:
    """--dir says where, and with --json stdout is one document."""
    done = program("init", "--dir", "a/b", "--json")
    assert done.code == 0
    assert done.document == {
        "schema_version": "1.0",
        "folder": "a/b",
        "parts": [{"path": name, "state": "created", "note": None} for name in MADE],
        "engine": None,
        "engines": [],
        "drafted": [],
        "accepted": {},
    }
    assert not list(Draft202012Validator(schemas()["init"]).iter_errors(done.document))
    assert (work / "a" / "b" / "skills").is_dir()
    assert list(work.iterdir()) == [work / "a"]


@pytest.mark.e2e
@pytest.mark.requirement("ES-INIT-001")
def test_the_configuration_sets_the_documented_keys_to_their_defaults(program: Program, work: Path) -> None:
    """The new file is accepted, sets exactly the documented keys, and changes no value."""
    before = program("config", "list", "--json").document
    assert program("init").code == 0
    assert program("config", "list", "--json").document == before
    values = program("config", "list", "--origin", "--json").document
    own = str(work / "skillgauge.config.yaml")
    assert {value["key"]: value["value"] for value in values if value["where"] == own} == KEYS


@pytest.mark.e2e
@pytest.mark.requirement("ES-INIT-001")
def test_the_commented_block_is_accepted_too(program: Program, work: Path) -> None:
    """Without its comment signs the block for the judge's model is what it says."""
    assert program("init").code == 0
    path = work / "skillgauge.config.yaml"
    lines = path.read_text().splitlines()
    start = lines.index("# llm:")
    path.write_text("\n".join([*lines[:start], *(line.removeprefix("# ") for line in lines[start:])]))
    values = {value["key"]: value for value in program("config", "list", "--origin", "--json").document}
    for key in ("llm.model", "llm.temperature"):
        assert values[key]["where"] == str(path)
        assert values[key]["value"] is not None


@pytest.mark.e2e
@pytest.mark.requirement("ES-INIT-002")
def test_settings_of_eval_skills_stay_in_force(program: Program, work: Path) -> None:
    """Where eval-skills.config.yaml is read, init says so, and its values count afterwards as before."""
    (work / "eval-skills.config.yaml").write_text("concurrency: 7\n")
    done = program("init")
    assert done.code == 0
    assert done.stdout.splitlines()[0].startswith("exists   eval-skills.config.yaml: it is read")
    assert not (work / "skillgauge.config.yaml").exists()
    assert program("config", "get", "concurrency").stdout == "7\n"


@pytest.mark.e2e
def test_obstacles(program: Program, work: Path) -> None:
    """A file where a folder should be ends the command with exit code 2 and a next step, and nothing is made."""
    (work / "skills").write_text("mine")
    done = program("init")
    assert done.code == 2
    assert "'skills' is no folder" in done.stderr
    assert "next: Move it away" in done.stderr
    assert [path.name for path in work.iterdir()] == ["skills"]


@pytest.mark.e2e
def test_help_says_what_it_does(program: Program) -> None:
    """The program's help has the command with its summary, and the command's own help its option."""
    assert "Make a configuration file" in program("--help").stdout
    assert "--dir" in program("init", "--help").stdout


@pytest.mark.e2e
def test_an_engine_that_works_is_found_and_configured(
    program: Program, work: Path, environment: dict[str, str]
) -> None:
    """Which key is here is told by its name, its value nowhere; the configuration names the engine and its model."""
    environment["ANTHROPIC_API_KEY"] = "made-up-key-4242424242"
    done = program("init", "--engine", "api", "--model", "claude-sonnet-4-5")
    assert done.code == 0, done.stderr
    assert "works    api: key ANTHROPIC_API_KEY\n" in done.stdout
    assert done.stderr == "1 created, 0 already present; engine api\n"
    assert [path.name for path in work.iterdir()] == ["skillgauge.config.yaml"], "folders that nobody asked for"
    file = (work / "skillgauge.config.yaml").read_text()
    assert file.endswith('engine: "api"\nmodel: "claude-sonnet-4-5"\n')
    values = {one["key"]: one["value"] for one in program("config", "list", "--origin", "--json").document}
    assert (values["engine"], values["model"]) == ("api", "claude-sonnet-4-5")
    assert "made-up-key" not in done.stdout + done.stderr + file
    document = program("init", "--engine", "api", "--model", "claude-sonnet-4-5", "--json").document
    assert not list(Draft202012Validator(schemas()["init"]).iter_errors(document))
    assert document["parts"][0]["note"] == 'add to it: engine: "api", model: "claude-sonnet-4-5"'
    assert document["engines"][0] | {"facts": 0} == {
        "name": "api",
        "keys": ["ANTHROPIC_API_KEY"],
        "logins": [],
        "problems": [],
        "hints": [],
        "facts": 0,
    }


@pytest.mark.e2e
def test_the_program_with_a_login_is_chosen_by_itself(
    program: Program, work: Path, environment: dict[str, str]
) -> None:
    """A program on the search path and the file of its login are enough; what is missing of the others is told."""
    programs = work.parent / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    (programs / "claude").chmod(0o755)
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    login = Path(environment["HOME"]) / ".claude/.credentials.json"
    login.parent.mkdir(parents=True)
    login.write_text('{"claudeAiOauth": {"accessToken": "made-up-token-4242", "expiresAt": 4102444800000}}')
    done = program("init", "--engine")
    assert done.code == 0, done.stderr
    assert done.stdout.startswith("works    claude-code: login ~/.claude/.credentials.json\n")
    assert "missing  codex: " in done.stdout
    assert "made-up-token" not in done.stdout + done.stderr
    assert (work / "skillgauge.config.yaml").read_text().endswith('engine: "claude-code"\n')


@pytest.mark.e2e
def test_engines_are_tried_at_once(program: Program, work: Path, environment: dict[str, str]) -> None:
    """Each is asked for its version by a process, and none waits for another's."""
    programs = work.parent / "programs"
    programs.mkdir()
    versions = {"claude": "2.1.332 (Claude Code)", "codex": "codex-cli 0.171.0"}
    for name, other in (("claude", "codex"), ("codex", "claude")):
        begun = f'touch "{programs}/{name}.begun"; tries=0'
        waits = f'until test -e "{programs}/{other}.begun"; do tries=$((tries + 1)); test $tries -lt 200 || exit 1'
        (programs / name).write_text(f"#!/bin/sh\n{begun}\n{waits}; sleep 0.05; done\necho '{versions[name]}'\n")
        (programs / name).chmod(0o755)
    keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), "made-up-key")
    environment |= keys | {"PATH": f"{programs}:{environment['PATH']}"}
    found = {one["name"]: one["problems"] for one in program("init", "--engine", "--json").document["engines"]}
    assert (found["claude-code"], found["codex"]) == ([], [])


@pytest.mark.e2e
def test_without_any_engine_that_works_nothing_is_made(program: Program, work: Path) -> None:
    """Each is told with what it lacks; so is a name that is none."""
    done = program("init", "--engine")
    assert (done.code, list(work.iterdir())) == (2, [])
    assert "error[init.engine]: claude-code: engine 'claude-code' needs" in done.stderr
    assert "error[init.no-engine]: no engine works here" in done.stderr
    assert "--engine mock --set engines.mock.script=FILE" in done.stderr
    assert "next: Install it: npm install -g" in done.stderr, "each is told with what to do about it"
    done = program("init", "--engine", "claud-code")
    assert (done.code, list(work.iterdir())) == (2, [])
    assert "'claud-code' is not installed or cannot be chosen (did you mean claude-code?)" in done.stderr


@pytest.mark.e2e
def test_results_that_git_would_take_along(program: Program, work: Path) -> None:
    """In a repository the lines for `.gitignore` are offered, as long as none names them; no file is changed."""
    assert "gitignore" not in program("init", "--dir", "elsewhere").stderr
    (work / ".git").mkdir()
    skill = work / "skills/my-skill"
    assert "put reports/ and skillgauge.db into .gitignore" in program("init", "--dir", str(skill)).stderr
    (work / ".gitignore").write_text("# results\n*.db\n")
    assert "put reports/ into .gitignore" in program("init", "--dir", str(skill)).stderr
    (skill / ".gitignore").write_text("/reports/\n")
    assert "gitignore" not in program("init", "--dir", str(skill)).stderr
    assert (work / ".gitignore").read_text() == "# results\n*.db\n"
