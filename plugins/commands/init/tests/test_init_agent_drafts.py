"""Evals that an agent drafts: asked for, tried in both arms, kept or dropped, and accepted by the author."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skillgauge_command_init.asking import read
from skillgauge_command_init.command import schemas
from skillgauge_testkit.program import PROGRAM, Done, Program

HEAD = "---\nname: greeter\ndescription: Greets. Use to greet somebody.\n---\n\n# Greeting\n\n## House\n\nZEBRA\n"
PLUGIN = '''
"""An agent that greets in the house's way where it has the skill, and a judge whose answers stand in a file."""
from pathlib import Path

from skillgauge.api import *


class Agent:
    async def check(self):
        return ()

    def identity(self, model):
        return Identity(name="greeting", version="1", model=model)

    def routes(self, model):
        return ()

    async def run(self, request, workspace, emit):
        names = tuple(skill.ref.name for skill in request.skills)
        with Path("sessions.txt").open("a") as file:
            file.write("one\\n")
        if "broken" in request.prompt:
            return Execution(failure=Failure.of_agent(FailureClass.AUTH, "not logged in"))
        fired = tuple(FiredSkill(name=name, how="invoked") for name in names if "reet" in request.prompt)
        text = "HOUSE ALWAYS" if fired and "odd" not in request.prompt else "PLAIN ALWAYS"
        usage = Usage(total_tokens=10, cost_usd=0.25)
        return Execution(text=text, usage=usage, trajectory=Trajectory(skills_offered=names, skills_fired=fired))


class Drafter:
    async def check(self):
        return ()

    def identity(self, model):
        return Identity(name="drafter", version="1")

    async def ask(self, request):
        with Path("asked.txt").open("a") as file:
            file.write(request.user)
        answers = Path("answers.txt").read_text().split("----")
        number = len(list(Path().glob("question-*")))
        Path(f"question-{number}").touch()
        return JudgeReply(text=answers[min(number, len(answers) - 1)], usage=Usage(cost_usd=1.0))


@hookimpl
def skillgauge_engines():
    tells = (Fact.USAGE, Fact.COST, Fact.OFFERED, Fact.FIRED)
    traits = Traits(skill_folder="skills", paid=True, tells=tells)
    yield Provider(name="greeting", factory=Agent, summary="Greets.", traits=traits)


@hookimpl
def skillgauge_judges():
    yield Provider(name="drafter", factory=Drafter, summary="Says what a file says.", traits=Traits())
'''


def contains(word: str) -> dict[str, str]:
    """An assertion on the answer."""
    return {"text": f"says {word}", "type": "contains", "value": word}


EVALS: list[dict[str, Any]] = [
    {"id": "Good one", "prompt": "Greet Ann.", "assertions": [contains("HOUSE"), contains("ALWAYS")]},
    {"id": "worse", "prompt": "Greet Bob.", "assertions": [contains("PLAIN")]},
    {"id": "easy", "prompt": "Greet Cem.", "assertions": [contains("ALWAYS")]},
    {"id": "hard", "prompt": "Greet Eve.", "assertions": [contains("NEVER")]},
    {"id": "hard", "prompt": "Greet broken Fay.", "assertions": [contains("HOUSE")]},
]
SILENT = ["What is two and two?", "Summarise the greeting cards."]


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill without evals, where an agent looks for it."""
    folder = work / ".claude/skills/greeter"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(HEAD)
    (work / "agent.py").write_text(PLUGIN)
    answer({"evals": EVALS, "must_not_trigger": SILENT}, work)
    return folder


def answer(document: object, work: Path, *before: str) -> None:
    """Let the judge answer with a document, after some texts."""
    (work / "answers.txt").write_text("----".join((*before, f"Here:\n```json\n{json.dumps(document)}\n```")))


def init(program: Program, *words: str) -> Done:
    """Run the command with the agent."""
    return program("init", "--plugin", "agent.py", "--engine", "greeting", "--judge", "drafter", *words)


@pytest.mark.slow
@pytest.mark.e2e
def test_what_a_team_shares_is_no_obstacle(program: Program, skill: Path) -> None:
    """Drafts are tried in no store, which could count them together with the sessions of others."""
    shared = {"SKILLGAUGE_BUDGET_USD": "5", "SKILLGAUGE_SERVICE_LIMITS": "greeting=1"}
    words = ("--plugin", "agent.py", "--engine", "greeting", "--judge", "drafter", "--yes")
    done = program("init", *words, env=shared)
    assert done.code == 0, done.stderr
    assert "4 of 7 drafts kept" in done.verdict
    assert (skill / "evals/evals.json").exists()


@pytest.mark.slow
@pytest.mark.e2e
def test_what_tells_the_arms_apart_is_kept(program: Program, work: Path, skill: Path) -> None:
    """Each draft is tried once in each arm; those that pass or fail in both, and broken ones, are kept apart."""
    (work / "skillgauge.config.yaml").write_text("runs: 3\n")
    before = (skill / "SKILL.md").read_bytes()
    done = init(program, "--yes")
    assert done.code == 0, done.stderr
    assert done.verdict == "4 of 7 drafts kept; next: skillgauge eval, then read them and `skillgauge init --accept`"
    assert "up to 16 sessions, which may cost money" in done.stderr
    sessions = (work / "sessions.txt").read_text().splitlines()
    assert len(sessions) == 12, "five in both arms and two in one, once each, whatever the configuration says"
    assert "drafted  .claude/skills/greeter/evals/evals.json: 4 of 7 drafts kept, for $3.50" in done.stdout
    assert "dropped  Greet Cem.: it passes without the skill, too" in done.stdout
    assert "dropped  Greet Eve.: it fails with the skill, too" in done.stdout
    assert "dropped  Greet broken Fay.: not tried: not logged in" in done.stdout
    written = json.loads((skill / "evals/evals.json").read_text())
    assert written["skill_name"] == "greeter"
    evals = {one["id"]: one for one in written["evals"]}
    assert list(evals) == ["good-one", "worse", "silent-1", "silent-2"]
    assert all(one["draft"] is True for one in evals.values())
    assert evals["good-one"]["assertions"] == [contains("HOUSE")], "the other one holds in both arms"
    assert evals["good-one"]["should_trigger"] is True
    assert evals["silent-1"] == {"id": "silent-1", "draft": True, "prompt": SILENT[0], "should_trigger": False}
    dropped = json.loads((skill / "evals/evals.draft.json").read_text())["drafts"]
    assert [(one["id"], one["dropped"]) for one in dropped] == [
        ("easy", "it passes without the skill, too"),
        ("hard", "it fails with the skill, too"),
        ("hard-2", "not tried: not logged in"),
    ], "nothing that was paid for is lost"
    assert (skill / "SKILL.md").read_bytes() == before
    assert 'skillgauge.config.yaml: add to it: engine: "greeting"' in done.stdout
    assert not (work / "skillgauge.db").exists()
    assert not (work / "reports").exists()
    question = (work / "asked.txt").read_text()
    assert '"SKILL.md"' in question
    assert "ZEBRA" in question


@pytest.mark.slow
@pytest.mark.e2e
def test_drafts_are_marked_until_they_are_accepted(program: Program, skill: Path) -> None:
    """A run counts them and every report says that they are drafts; `--accept` ends that."""
    assert init(program, "--yes").code == 0
    drafted = program("eval", "--plugin", "agent.py", "--format", "html", "markdown", "--runs", "1")
    assert "4 of 4 evals are drafts that nobody has accepted" in drafted.stderr, drafted.stderr
    assert "evals.draft.json" not in drafted.stderr, "what was dropped is known"
    for name in ("eval-result.html", "eval-result.md"):
        assert "Cases that are drafts" in (skill.parents[2] / "reports" / name).read_text()
    accepted = program("init", "--accept")
    assert (accepted.code, accepted.verdict) == (0, "4 drafts accepted")
    assert "draft" not in (skill / "evals/evals.json").read_text()
    done = program("eval", "--plugin", "agent.py", "--runs", "1")
    assert "are drafts" not in done.stdout + done.stderr
    again = program("init", "--accept")
    assert (again.code, "no evals in '.' are drafts" in again.stderr) == (2, True)


@pytest.mark.e2e
def test_nothing_is_asked_without_consent(program: Program, work: Path, skill: Path) -> None:
    """In a pipe it takes --yes: else the skeleton is made as without an agent, and the price is told."""
    done = program("init", "--plugin", "agent.py")
    assert done.code == 0, done.stderr
    assert "with --yes, greeting (no key and no login) drafts 8 evals for greeter" in done.stderr
    assert not (work / "asked.txt").exists()
    assert [path.name for path in (skill / "evals").iterdir()] == ["evals.draft.json"]
    assert done.verdict == "1 created, 0 already present"


@pytest.mark.e2e
def test_an_answer_that_cannot_be_used_is_asked_for_again(program: Program, work: Path, skill: Path) -> None:
    """Once, with what is wrong with it; then it is an error, and nothing is written."""
    bad = json.dumps({"evals": [{**EVALS[0], "assertions": [{"text": "ok", "type": "vibes"}]}]})
    answer({"evals": EVALS[:1]}, work, bad)
    assert init(program, "--yes").code == 0
    assert "'vibes' is no type of assertion here" in (work / "asked.txt").read_text()
    for made in (*work.glob("question-*"), *skill.glob("evals/*")):
        made.unlink()
    answer({}, work, bad, "no object")
    done = init(program, "--yes")
    assert done.code == 2
    assert "error[init.no-drafts]: no drafts of evals for greeter: its answer cannot be used" in done.stderr
    assert not list(skill.glob("evals/*"))


@pytest.mark.e2e
def test_an_agent_that_breaks_down_leaves_nothing(program: Program, work: Path, skill: Path) -> None:
    """If no session has an answer nothing is known of any draft, so none is written."""
    answer({"evals": EVALS[-1:]}, work)
    done = init(program, "--yes")
    assert done.code == 2
    assert "no draft of an eval for greeter could be tried: not logged in" in done.stderr
    assert not (skill / "evals").exists()


@pytest.mark.e2e
def test_a_budget_ends_the_trying(program: Program, work: Path, skill: Path) -> None:
    """What was tried is kept, what was not says so, further skills are not begun, and the exit code is the budget's."""
    other = work / "skills/other"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(HEAD.replace("greeter", "other"))
    (work / "skillgauge.config.yaml").write_text("concurrency: 1\n")
    answer({"evals": EVALS[:2]}, work)
    done = init(program, "--yes", "--max-cost", "0.3")
    assert done.code == 4, done.stderr
    assert done.verdict.startswith("stopped by --max-cost: ")
    assert "not tried: no session was run" in done.stdout
    assert len(list(work.glob("question-*"))) == 1
    drafted = [path.parents[1].name for path in work.rglob("evals.draft.json")]
    assert len(drafted) == 1


@pytest.mark.slow
@pytest.mark.e2e
def test_an_interrupt_ends_the_trying(program: Program, work: Path, skill: Path) -> None:
    """Sessions that are finished count, and the exit code is that of an interrupt."""
    slow = PLUGIN.replace("        names = tuple", "        await asyncio.sleep(1)\n        names = tuple")
    (work / "agent.py").write_text(f"import asyncio\n{slow}")
    command = [PROGRAM, "init", "--plugin", "agent.py", "--engine", "greeting", "--judge", "drafter", "--yes"]
    (work / "skillgauge.config.yaml").write_text("concurrency: 1\n")
    process = subprocess.Popen(
        command, cwd=work, env=program.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "passed" in line:  # of the first session that ended
            break
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert rest[1].strip().splitlines()[-1].startswith("interrupted: ")
    assert (skill / "evals/evals.draft.json").is_file()


@pytest.mark.e2e
def test_one_skill_of_several_that_fails(program: Program, work: Path, skill: Path) -> None:
    """The others get their evals, and the document says all of it."""
    other = work / "skills/bad"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(HEAD)
    (work / "elsewhere").mkdir()
    (other / "evals").symlink_to(work / "elsewhere")
    done = init(program, "--yes", "--json")
    assert done.code == 2, done.stderr
    assert "'skills/bad/evals' is a link" in done.stderr
    assert not list(Draft202012Validator(schemas()["init"]).iter_errors(done.document))
    (drafted,) = done.document["drafted"]
    assert (drafted["skill"], len(drafted["kept"]), len(drafted["dropped"])) == ("greeter", 4, 3)
    assert (skill / "evals/evals.json").is_file()


def assertion(**changed: str) -> str:
    """An answer with one assertion."""
    return json.dumps({"evals": [{**EVALS[0], "assertions": [{"text": "a", "value": "x", **changed}]}]})


def with_file(path: str) -> str:
    """An answer with an input file."""
    return json.dumps({"evals": [{**EVALS[0], "files": [{"path": path, "content": ""}]}]})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nothing", "there is no JSON object in it"),
        ("{}", "evals: Field required"),
        ('{"evals": []}', "evals: List should have at least 1 item"),
        (with_file("../x"), "leads out"),
        (with_file("/x"), "leads out"),
        (assertion(type="regex", value="("), "no pattern"),
        (assertion(type="file-regex"), "needs a 'path'"),
        (assertion(type="command"), "no type of assertion"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    """Assertions that no program can check or that start one, and paths that lead outside, are refused in words."""
    with pytest.raises(ValueError, match=why):
        read(text)
