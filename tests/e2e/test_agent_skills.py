"""Suites of Agent Skills through the whole program, with an agent that plays a script."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgauge_testkit.program import Done, Program

from .conftest import ROOT

EXAMPLE = ROOT / "examples/agent/release-notes"
ENGINE = Path(__file__).parent / "data/scripted_engine.py"


def evaluated(program: Program, *arguments: str | Path) -> Done:
    """An evaluation by the scripted agent, whose document is in `bench.json` and whose record in `reports`."""
    return program(
        *("--plugin", ENGINE, "eval", *arguments, "--engine", "scripted"),
        *("-o", "bench.json", "--format", "record", "--output-dir", "reports"),
    )


def texts(work: Path) -> dict[tuple[str, str], str]:
    """What the agent said, by case and arm."""
    (file,) = (work / "reports").glob("run-*.record.json")
    found: dict[tuple[str, str], str] = {}

    def search(value: Any) -> None:
        if isinstance(value, dict) and {"case_id", "arm", "execution"} <= value.keys():
            found[value["case_id"], value["arm"]] = value["execution"]["text"] or ""
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            search(inner)

    search(json.loads(file.read_text()))
    return found


SHAPES = ROOT / "plugins/formats/agent-skills/tests/data/shapes"
OTHERS = {
    "benchflow": ("tide-tables",),
    "skillevaluation": ("parcel-labels",),
    "skillgrade": ("weather-page",),
    "uaaps": ("pack",),
}
"""Skills whose suites are not of Agent Skills, by the format that reads them."""
OF_AN_IMAGE = "weather-page"
"""A skill whose suite builds an image and uses a folder at the root of it."""
REFUSED = "choir-rota"
"""A skill with a key that BenchFlow does not know."""


def test_every_published_shape_loads_or_names_its_format(program: Program, work: Path) -> None:
    """In a folder of skills in all published shapes, each is in the plan or is a problem that says what to install."""
    shutil.copytree(SHAPES, work / "skills")
    for name in (REFUSED, "bird-counts", *(one for skills in OTHERS.values() for one in skills)):
        skill = work / "skills" / name / "SKILL.md"
        if skill.parent.is_dir() and not skill.exists():  # the shapes are of suites; a format reads them of a skill
            skill.write_text(f"---\nname: {name}\ndescription: A skill.\n---\n\nDo it.\n")
    case = work / "skills/pack/skills/one/tests/cases/a.yaml"
    case.parent.mkdir(parents=True)
    case.write_text("name: a\ninput: {command: 'true'}\n")
    (work / "skills/pack/package.agent.json").write_text('{"name": "pack", "version": "1.0.0"}')
    here = program("plugins", "list", "--json").document["plugins"]
    installed = {one["name"] for one in here if one["kind"] == "formats"}
    done = program("eval", "skills", "--engine", "mock", "--dry-run", "--json")
    absent = {skill: name for name, skills in OTHERS.items() if name not in installed for skill in skills}
    assert done.code == 2, done.stderr
    loaded = {Path(one["root"]).name for one in done.document["plan"]["suites"]}
    assert loaded >= {"invoice-totals", "seed-catalogue", "ship-log", "ferry-desk", "bird-counts"}
    assert not loaded & absent.keys()
    problems = {
        Path(one["file"]).relative_to(work / "skills").parts[0]: one
        for one in done.document["problems"]
        if one["severity"] == "error"
    }
    assert "skill" in problems.pop(REFUSED)["message"] or "benchflow" not in installed
    if "skillgrade" in installed:  # it reads this suite, and says which of its settings it cannot honour
        assert problems.pop(OF_AN_IMAGE)["code"] == "suite.unsupported"
    assert problems.keys() == absent.keys()
    for skill, name in absent.items():
        assert problems[skill]["code"] == "plugin.not-installed"
        assert "no installed format reads it" in problems[skill]["message"]
        assert problems[skill]["hint"] == f"pip install skillgauge-format-{name}"
        alone = program("eval", f"skills/{skill}", "--dry-run")
        assert alone.code == 2
        assert problems[skill]["hint"] in alone.stderr


@pytest.mark.slow
def test_sessions_of_agents_get_a_page_unless_somebody_chose(program: Program, work: Path) -> None:
    """Beside the default reports there is a page if agents take part; a choice of formats is kept as it is."""

    def written(*arguments: str | Path) -> set[str]:
        done = program("eval", *arguments, "--store", "none")
        assert done.code == 0, done.stderr
        found = {path.suffix for path in (work / "reports").iterdir()}
        shutil.rmtree(work / "reports")
        return found

    agents = (EXAMPLE / "evals/evals.json", "--engine", "mock")
    assert written(*agents) == {".json", ".md", ".html"}
    assert written(*agents, "--format", "markdown") == {".md"}
    assert written("--skills", ROOT / "examples/skills/calculator", "--benchmark", "coding-easy") == {".json", ".md"}
    (work / "skillgauge.config.yaml").write_text("defaultFormats: [json]\n")
    assert written(*agents) == {".json"}


@pytest.mark.slow
def test_a_repository_of_skills_in_one_run(program: Program, work: Path) -> None:
    """Three hundred skills whose evals lie at the root are found by name, all in one plan."""
    names = [f"skill-{number:03}" for number in range(300)]
    for name in names:
        skill, evals = work / "repo/skills" / name, work / "repo/evals" / name
        skill.mkdir(parents=True)
        evals.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n---\nDo it.\n")
        cases = [{"prompt": "p", "assertions": [{"type": "contains", "value": "a"}]}]
        (evals / "evals.json").write_text(json.dumps({"skill_name": name, "evals": cases}))
    done = program("eval", "repo", "--engine", "mock", "--dry-run", "--json")
    assert done.code == 0, done.stderr
    assert [suite["id"] for suite in done.document["plan"]["suites"]] == names


@pytest.mark.slow
def test_a_workspace_for_the_programs_of_skill_creator(program: Program, work: Path) -> None:
    """Its folder holds every run as they read it, and nothing else that `eval-*` would match."""
    done = program(
        *("--plugin", ENGINE, "eval", EXAMPLE / "evals/evals.json", "--engine", "scripted"),
        *("--format", "skill-creator", "json", "--output-dir", "reports"),
    )
    assert done.code == 0, done.stderr
    (root,) = (work / "reports").glob("*/skill-creator")
    assert {path.name for path in root.glob("eval-*")} == {f"eval-{number}" for number in (1, 2, 3, 4)}
    runs = list(root.glob("eval-*/*/run-*"))
    assert len(runs) == 8
    rates = {
        (run.parent.parent.name, run.parent.name): json.loads((run / "grading.json").read_text())["summary"][
            "pass_rate"
        ]
        for run in runs
    }
    benchmark = json.loads((root / "benchmark.json").read_text())
    told = {(f"eval-{one['eval_id']}", one["configuration"]): one["result"]["pass_rate"] for one in benchmark["runs"]}
    assert rates == told
    assert all((run / "outputs/answer.txt").is_file() for run in runs)


def assert_explained(shown: Done) -> None:
    """What `eval` told to be run shows the session behind a red line: prompt, checks, and the arm that was named."""
    assert shown.code == 0, shown.stderr
    assert "Case session-fix (1) of release-notes\nPrompt\n  Ticket HRB-17 of Harbour" in shown.stdout
    assert "failed The note keeps the house rules (command)" in shown.stdout
    assert "Note: the prompt was repeated for want of a script, no model was asked" in shown.stdout
    assert "without_skill" not in shown.stdout


@pytest.mark.slow
def test_pages_and_comments_name_what_went_wrong_as_the_terminal_does(program: Program, work: Path) -> None:
    """A case by its name with its id behind it, and a check once, though its reason begins with its name."""
    done = program("eval", EXAMPLE, "--engine", "mock", "--format", "github", "junit", "--output-dir", "out")
    assert done.code == 0, done.stderr
    (comment,) = (work / "out").glob("*/github/comment.md")
    (notes,) = (work / "out").glob("*/github/annotations.txt")
    reason = "The note keeps the house rules: exit code 1 instead of 0"
    for text in (comment.read_text(), notes.read_text(), (work / "out/eval-result.junit.xml").read_text()):
        assert "session-fix (1)" in text
        assert reason in text
        assert "The note keeps the house rules: The note" not in text


@pytest.mark.slow
def test_a_run_that_went_wrong_says_why_and_how_to_look_deeper(program: Program, work: Path) -> None:
    """After the rates stand the failing cases of the arm with the skill, named, with reasons and one command."""
    done = program("eval", EXAMPLE / "evals/evals.json", "--engine", "mock")
    assert done.code == 0, done.stderr
    told = done.stdout.partition("did not pass:\n")[2].splitlines()
    assert told[0] == "  session-fix · with_skill: passed 0 of 1"
    assert told[1].startswith("    The note keeps the house rules: exit code 1 instead of 0")
    assert "without_skill" not in " ".join(told)
    command = told[told.index("look deeper:") + 1]
    run = program("history", "list", "--json").document["runs"][0]["run"]["run_id"]
    assert command == f"  skillgauge report show {run} --case 1 --arm with_skill"
    assert max(len(line) for line in done.stdout.splitlines() if "report: " not in line) <= 80
    assert_explained(program(*command.split()[1:]))
    elsewhere = program("eval", EXAMPLE / "evals/evals.json", "--engine", "mock", "--store", "my runs.db")
    assert " --store 'my runs.db' --case 1 " in elsewhere.stdout
    (work / "reports").rename(work / "old")
    kept = program("eval", EXAMPLE / "evals/evals.json", "--engine", "mock", "--store", "none", "--format", "record")
    (record,) = (work / "reports").glob("run-*.record.json")
    assert f"skillgauge report show {record.relative_to(work)} --case 1" in kept.stdout
    assert_explained(program(*kept.stdout.partition("  skillgauge ")[2].partition("\n")[0].split()))


@pytest.mark.slow
def test_a_dry_run_shows_what_every_arm_would_have(program: Program, work: Path) -> None:
    """Skills with what is left out, files, names of variables, sessions and keys; in JSON by its published schema."""
    config = {"plugins": {"engines": {"api": {"base_url": "http://127.0.0.1:1"}}}}
    (work / "skillgauge.config.yaml").write_text(json.dumps(config))
    command = (
        "eval",
        EXAMPLE,
        "--engine",
        "api",
        "--model",
        "claude-x",
        "--store",
        "none",
        "--dry-run",
        "--trust-config",
    )
    before = sorted(work.rglob("*"))
    env = {"ANTHROPIC_API_KEY": "canary-of-a-key-0123456789", "LANG": "C.UTF-8"}
    done = program(*command, "--json", env=env)
    assert done.code == 0, done.stderr
    jsonschema.validate(done.document, program("schema", "dry-run", "--json").document)
    with_skill, without_skill, queries = done.document["arms"]
    assert (with_skill["arm"], with_skill["kind"], with_skill["runner"]) == ("with_skill", "agent", "api")
    assert (with_skill["model"], with_skill["sandbox"], with_skill["paid"]) == ("claude-x", "local/none", True)
    (skill,) = with_skill["skills"]
    assert (skill["name"], skill["role"], skill["leaves_out"]) == ("release-notes", "candidate", ["evals"])
    assert without_skill["skills"] == []
    for one in (with_skill, without_skill):
        assert one["files"] == ["evals/files/HRB-52.md"]
        assert one["grader_files"] == ["scripts/check_note.py"]
        assert one["environment"] == ["PATH", "LANG"]
        assert (one["cases"], one["runs"], one["sessions"]) == (4, 1, 4)
    assert (queries["cases"], queries["runs"], queries["sessions"]) == (4, 3, 12)
    assert sum(one["sessions"] for one in done.document["arms"]) == done.document["plan"]["trial_count"]
    (key,) = done.document["keys"]
    assert (key["who"], key["present"]) == ("engine 'api'", ["ANTHROPIC_API_KEY"])
    assert "OPENAI_API_KEY" in key["variables"]
    people = program(*command, env=env)
    for line in (
        "20 trials in sandbox local/none; runs: 1 to 3, seed: 0",
        "release-notes, with_skill: skill release-notes is installed; left out: evals",
        "release-notes, without_skill: no skill is installed",
        "release-notes, every arm: input files evals/files/HRB-52.md",
        "release-notes, every arm: after the session, for checks, scripts/check_note.py",
        "release-notes, every arm: variables PATH, LANG",
    ):
        assert line in people.stdout.splitlines()
    assert "engine 'api' needs a key: " in people.stdout
    assert "(set: ANTHROPIC_API_KEY)" in people.stdout
    assert "canary" not in done.stdout + done.stderr + people.stdout + people.stderr
    assert sorted(work.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ("1", "once in each arm, cannot show whether the skill helps, whatever comes out; --runs 5 can show 47 points"),
        ("3", "3 times in each arm, can detect a lift of 63 points or more; --runs 5 can show 47 points"),
        ("5", "5 times in each arm, can detect a lift of 47 points or more"),
    ],
)
def test_what_a_suite_can_show_is_said_before_it_is_paid_for(
    program: Program, work: Path, runs: str, said: str
) -> None:
    """By a dry run always; by an evaluation if that is little."""
    command = ("eval", EXAMPLE / "evals/evals.json", "--engine", "mock", "--store", "none", "--runs", runs)
    plan = program(*command, "--dry-run")
    assert f"release-notes: 4 cases, run {said}" in plan.stdout.splitlines()
    (foreseen,) = program(*command, "--dry-run", "--json").document["comparisons"]
    assert (foreseen["cases"], foreseen["runs"], foreseen["detectable"] is None) == (4, int(runs), runs == "1")
    done = program(*command)
    assert (f"release-notes: 4 cases, run {said}" in done.stderr.splitlines()) is (runs != "5")


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "chosen"), [("auto", 5), ("auto:82", 2), ("auto:40", 7), ("2", 2)])
def test_repeats_can_be_chosen_by_what_they_are_to_show(program: Program, runs: str, chosen: int) -> None:
    """Of suites that compare arms; queries keep theirs."""
    command = ("eval", EXAMPLE, "--engine", "mock", "--store", "none", "--runs", runs, "--dry-run", "--json")
    evals, queries = program(*command).document["plan"]["suites"]
    assert (evals["runs"], queries["runs"]) == (chosen, 2 if runs == "2" else 3)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ("auto:5", "suite 'release-notes' has too few cases to show a lift of 5 points, even with 20 runs"),
        ("auto:0", "runs cannot be 'auto:0'. Give a number from 1 to 100000, or auto:POINTS"),
        ("auto:x", "runs cannot be 'auto:x'. Give a number"),
        ("0", "runs cannot be '0'. Give a number from 1 to 100000"),
        ("9" * 23, "Give a number from 1 to 100000"),
    ],
)
def test_what_no_number_of_repeats_shows_is_refused(program: Program, runs: str, said: str) -> None:
    """Before anything runs."""
    done = program("eval", EXAMPLE, "--engine", "mock", "--store", "none", "--runs", runs)
    assert done.code == 2
    assert said in done.stderr


@pytest.mark.slow
def test_the_last_line_is_the_answer(program: Program, work: Path) -> None:
    """The same sentence in the terminal, Markdown and HTML; its numbers in the record and the table."""
    done = program(
        *("--plugin", ENGINE, "eval", EXAMPLE / "evals/evals.json", "--engine", "scripted", "--runs", "3"),
        *("--format", "record", "markdown", "html", "csv", "--output-dir", "reports"),
    )
    assert done.code == 0, done.stderr
    said = (
        "release-notes · with_skill helps on these cases: +75.0 points against without_skill "
        "(n = 4 cases; these cases: 95% interval +44.8 to +83.7, p < 0.001)"
    )
    assert done.stderr.splitlines()[-1].startswith(f"done: {said}")
    reports = {path.suffix: path.read_text() for path in (work / "reports").glob("eval-result.*")}
    assert said.replace("_", r"\_").replace("<", r"\<") in reports[".md"]
    assert said in unescape(re.sub("<[^>]*>", "", reports[".html"]))
    (record,) = (work / "reports").glob("run-*.record.json")
    (pair,) = json.loads(record.read_text())["summary"]["pairs"]
    evidence = pair["evidence"]
    assert (evidence["finding"], evidence["estimate"], evidence["n"]) == ("helps", 0.75, 4)
    assert evidence["interval"] is None
    assert evidence["chance"] == pytest.approx(2 / 20**3)
    heads, candidate, baseline = (line.split(",") for line in reports[".csv"].splitlines())
    row = dict(zip(heads, candidate, strict=True))
    assert (row["baseline"], row["lift"], row["liftFinding"], row["liftCases"]) == (
        "without_skill",
        "0.7500",
        "helps",
        "4",
    )
    assert (row["liftChanceTheseCases"], row["state"], row["valid"]) == ("0.00025", "finished", "true")
    assert (row["liftLowerTheseCases"], row["liftUpperTheseCases"], row["liftLevel"]) == ("0.4484", "0.8373", "0.95")
    assert (row["liftLowerNewCases"], row["liftChanceNewCases"], row["liftFindingCases"]) == ("", "", "these")
    assert dict(zip(heads, baseline, strict=True))["lift"] == ""


@pytest.mark.slow
@pytest.mark.requirement("SE-FORMAT-003", "SE-FORMAT-009")
def test_the_example_tells_what_the_skill_is_worth(program: Program, work: Path) -> None:
    """Commands grade both arms with the skill's own script, and the rates are those that the example promises."""
    done = evaluated(program, EXAMPLE)
    assert done.code == 0, done.stderr
    document = json.loads((work / "bench.json").read_text())
    rates = {arm: document["run_summary"][arm]["pass_rate"]["mean"] for arm in ("with_skill", "without_skill")}
    assert rates == {"with_skill": 1.0, "without_skill": 0.25}
    assert document["run_summary"]["delta"] == {"pass_rate": "+0.75", "time_seconds": "+0.8", "tokens": "+150"}
    passed = {(one["eval_name"], one["configuration"]) for one in document["runs"] if one["result"]["pass_rate"] == 1}
    assert passed == {
        ("session-fix", "with_skill"),
        ("digest-feature", "with_skill"),
        ("removed-export", "with_skill"),
        ("no-note-wanted", "with_skill"),
        ("no-note-wanted", "without_skill"),
    }
    assert "release-notes-trigger_evals · with_skill — balanced accuracy 100.0%" in done.stdout
    assert "Recall (fired when it should): 100.0% (n = 2 cases, 34.2% to 100.0%)" in done.stdout
    assert "Specificity (silent when it should be): 100.0% (n = 2 cases, 34.2% to 100.0%)" in done.stdout
    listed = program("history", "list", "--store", "skillgauge.db")
    assert "  4 of 4 cases, balanced accuracy 100.0%  " in listed.stdout
    assert program("baseline", "save", "main", "--store", "skillgauge.db").code == 0
    kept = program("baseline", "list")
    assert kept.stdout.splitlines()[1].endswith("  with_skill: 4 of 4 passed, balanced accuracy 100.0%")
    assert evaluated(program, EXAMPLE, "--fresh").code == 0  # a list needs two
    noise = program("history", "noise", "--store", "skillgauge.db").stdout.splitlines()
    assert len({line.partition(":")[0] for line in noise}) == len(noise)
    assert program("view", "export", "site", "latest~1", "latest", "--store", "skillgauge.db").code == 0
    pages = "".join(page.read_text() for page in (work / "site").rglob("*.html"))
    assert "4 of 4, balanced accuracy 100.0%" in pages
    assert "<dt>Runs per case</dt><dd>1 to 3</dd>" in pages
    assert 'release-notes-trigger_evals</bdi> <span class="by">(4 cases, those that did not always pass first)' in pages


@pytest.mark.slow
@pytest.mark.requirement("SE-FORMAT-010", "UA-LAYOUT-014")
def test_the_agent_sees_no_answers(program: Program, work: Path) -> None:
    """Evals, tests, and a key that only a command reads are in no workspace while the agent works; input files are."""
    skill = work / "release-notes"
    shutil.copytree(EXAMPLE, skill)
    (skill / "tests").mkdir()
    (skill / "tests/test_check_note.py").write_text("")
    (skill / "key.txt").write_text("QUAY")
    evals = json.loads((skill / "evals/evals.json").read_text())
    graded = {"text": "As the key says", "type": "command", "value": "grep -q -f key.txt changes/*.note"}
    evals["evals"][0]["assertions"].append(graded)
    (skill / "evals/evals.json").write_text(json.dumps(evals))
    assert evaluated(program, skill / "evals/evals.json").code == 0
    seen = texts(work)
    assert seen["1", "with_skill"].split(": ")[1].split() == [
        ".agents/skills/release-notes/SKILL.md",
        ".agents/skills/release-notes/scripts/check_note.py",
    ]
    assert seen["1", "without_skill"] == "Done. I saw: "
    assert seen["3", "without_skill"] == "Done. I saw: evals/files/HRB-52.md"
    document = json.loads((work / "bench.json").read_text())
    (first,) = [one for one in document["runs"] if (one["eval_id"], one["configuration"]) == (1, "with_skill")]
    assert {one["text"]: one["passed"] for one in first["expectations"]}["As the key says"]


@pytest.mark.slow
@pytest.mark.requirement("BF-EMBED-002")
def test_a_skill_inside_of_a_task(program: Program, work: Path) -> None:
    """A skill below a task's environment is found by searching, and is not offered to the arm without it."""
    shutil.copytree(EXAMPLE, work / "tasks/notes/environment/skills/release-notes")
    assert evaluated(program, work / "tasks").code == 0
    seen = texts(work)
    assert ".agents/skills/release-notes/SKILL.md" in seen["1", "with_skill"]
    assert ".agents" not in "".join(text for (_, arm), text in seen.items() if arm == "without_skill")


@pytest.mark.requirement("SE-FORMAT-004")
def test_assertions_are_judged(program: Program, work: Path) -> None:
    """Texts go to the judge, one by one."""
    skill = work / "release-notes"
    shutil.copytree(EXAMPLE, skill)
    (skill / "evals/trigger_evals.json").unlink()
    evals = {
        "evals": [{"id": "a", "prompt": "Write the note of HRB-17.", "assertions": ["It is done.", "It is short."]}]
    }
    (skill / "evals/evals.json").write_text(json.dumps(evals))
    done = evaluated(program, skill, "--judge", "lenient")
    assert done.code == 0, done.stderr
    document = json.loads((work / "bench.json").read_text())
    assert [[(one["text"], one["passed"]) for one in run_["expectations"]] for run_ in document["runs"]] == [
        [("It is done.", True), ("It is short.", True)]
    ] * 2


@pytest.mark.slow
def test_problems_of_all_files(program: Program, work: Path) -> None:
    """A search reports what other tools' suites need, with the line that helps, and evaluates the rest."""
    shutil.copytree(EXAMPLE, work / "skills/release-notes")
    other = work / "skills/other/eval.yaml"
    other.parent.mkdir(parents=True)
    other.write_text("name: a\nstimuli:\n- {prompt: i}\n")
    done = evaluated(program, work / "skills", "--no-plugin", "vally")
    assert done.code == 2
    assert "pip install skillgauge-format-vally" in " ".join(done.stderr.split())
    assert json.loads((work / "bench.json").read_text())["metadata"]["skill_name"] == "release-notes"


@pytest.mark.requirement("SE-FORMAT-008")
def test_a_flat_suite_is_decided_by_programs_alone(program: Program, work: Path) -> None:
    """Typed assertions, a share that is enough, a prompt of its own for the baseline, and a command that says no."""
    skill = work / "fortnights"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: fortnights\ndescription: Count days.\n---\n\nKeep the zebra rule.\n")
    absent = {"type": "command", "command": "grep -q Total report.md"}
    cases = [
        {"id": "asked", "question": "How long is a fortnight?", "prompt_baseline": "How long?", "must_have": ["14"]},
        {"id": "no-file", "question": "Report.", "assertions": [absent]},
        {"id": "half", "question": "Report.", "threshold": 0.5, "assertions": ["contains 'done'", "contains 'zzz'"]},
        {"id": "code", "question": "Report.", "assertions": [{"type": "code_contains", "check": "I saw:"}]},
        {"id": "leak", "question": "Report.", "assertions": [{"type": "code_contains", "check": "zebra rule"}]},
    ]
    (skill / "evals/evals.json").write_text(json.dumps(cases))
    done = evaluated(program, "fortnights")
    assert done.code == 0, done.stderr
    (file,) = (work / "reports").glob("run-*.record.json")
    results = json.loads(file.read_text())["results"]
    verdicts = {(one["case_id"], one["arm"]): one["verdict"] for one in results}
    with_skill, without_skill = (
        {case: verdict for (case, arm), verdict in verdicts.items() if arm == name}
        for name in ("with_skill", "without_skill")
    )
    assert with_skill == {"asked": "pass", "no-file": "fail", "half": "pass", "code": "pass", "leak": "fail"}
    assert without_skill == with_skill | {"asked": "fail"}


def test_a_set_of_queries_has_no_document_and_says_so(program: Program, work: Path) -> None:
    """D-15: `--format json` is the suites' own document, and what has none is told."""
    (queries,) = (path for path in (EXAMPLE / "evals").glob("*.json") if path.name != "evals.json")
    said = "--format json writes nothing: these suites have no document of their own"
    done = program("eval", queries, "--engine", "mock", "--format", "json", "--store", "none", "--dry-run")
    assert said in done.stderr
    done = program("eval", EXAMPLE, "--engine", "mock", "--format", "json", "--store", "none", "--dry-run")
    assert said not in done.stderr
