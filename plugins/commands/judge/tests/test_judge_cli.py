"""`judge` as a user runs it, on runs that a scripted model has judged."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge_command_judge.documents import Calibration, LabelDocument
from skillgauge_testkit import ModelReply, ModelRequest, ModelServer
from skillgauge_testkit.program import PROGRAM, Done, Program

from .conftest import Biased

pytestmark = pytest.mark.e2e
Evaluate = Callable[..., Done]
Labelling = Callable[..., Done]
NOT_CALIBRATED = "the judge of this run is not calibrated: "


def person(number: int) -> str:
    """Stricter than the judge with one task, kinder with another."""
    return "y" if number < 5 or number == 9 else "n"


def labels(work: Path) -> list[dict[str, object]]:
    """The lines of the file."""
    return [json.loads(line) for line in (work / "labels.jsonl").read_text().splitlines()]


@pytest.mark.slow
def test_from_a_run_to_a_calibration(program: Program, evaluate: Evaluate, label: Labelling, work: Path) -> None:
    """Every judged check is asked once, in any order but without the judge's opinion; the table of both is right."""
    evaluate()
    done = label(person)
    assert (done.code, done.verdict) == (0, "10 added, 0 skipped; 10 labels in all, 0 checks without one")
    assert "secret opinion" not in done.stderr + done.stdout
    assert "\x1b" not in done.stderr
    assert sum(bool(line["passes"]) for line in labels(work)) == 6
    compared = program("judge", "calibrate", "latest", "--json")
    assert compared.code == 0, compared.stdout
    found = Calibration.model_validate(compared.document)
    assert (found.both_pass, found.only_judge_passes, found.only_people_pass, found.neither_passes) == (5, 1, 1, 3)
    assert (found.labels, found.cases, found.agreement) == (10, 10, 0.8)
    assert found.kappa == pytest.approx((80 - 52) / (100 - 52))
    assert (found.sensitivity.rate, found.sensitivity.n) == (5 / 6, 6)
    assert (found.specificity.rate, found.specificity.n) == (3 / 4, 4)
    (rate,) = found.rates
    assert (rate.target, rate.raw.rate, rate.raw.n) == ("echo", 0.6, 10)
    assert rate.corrected == pytest.approx((0.6 + 0.75 - 1) / (5 / 6 + 0.75 - 1))
    assert rate.lower is not None
    assert rate.upper is not None
    assert rate.lower < 0.6 < rate.upper
    assert found.advisory == ("10 labels are fewer than 50", "kappa 0.58 is below 0.60")
    assert json.loads((work / "judge-calibration.json").read_text()) == compared.document
    shown = program("judge", "calibrate", "latest", "--output", "other/place.json")
    assert "echo    60.0% (n = 10 cases, " in shown.stdout
    assert "judge and people agree in 80.0% of 10 labels (kappa 0.58): the judge is advisory, since" in shown.verdict
    assert (work / "other/place.json").read_bytes() == (work / "judge-calibration.json").read_bytes()


@pytest.mark.slow
def test_a_question_shows_what_a_person_needs(program: Program, evaluate: Evaluate, work: Path) -> None:
    """Task, answer and criteria, with nothing that acts on a terminal."""
    evaluate()
    done = program("judge", "label", "latest", "--limit", "1", "--json", stdin="n\n")
    document = LabelDocument.model_validate(done.document)
    assert (document.added, document.skipped, document.labelled, document.open) == (1, 0, 1, 9)
    question = re.search(
        r"Case t(\d), check \S+\n\nInput:\n.*\n\nAnswer:\n  greeting (\d)\N{REPLACEMENT CHARACTER}", done.stderr
    )
    assert question
    assert question[1] == question[2]
    assert "What must hold:\n  Is it a greeting?" in done.stderr
    (line,) = labels(work)
    assert line["passes"] is False


@pytest.mark.slow
def test_labelling_goes_on_where_it_was_left(program: Program, evaluate: Evaluate, work: Path) -> None:
    """Quitting keeps what was said; a skipped question comes again, an answered one does not, also from a record."""
    evaluate()
    first = program("judge", "label", "latest", stdin="y\nskip\nquit\n")
    assert first.verdict == "1 added, 1 skipped; 1 labels in all, 9 checks without one"
    file = work / "labels.jsonl"
    file.write_text(file.read_text().rstrip("\n"))  # as some editors leave it
    record = next((work / "reports").glob("run-*.record.json"))
    second = program("judge", "label", record, stdin="y\n" * 9)
    assert second.verdict == "9 added, 0 skipped; 10 labels in all, 0 checks without one"
    assert second.stderr.index("Case") > 0
    assert re.findall(r"^Case t\d+", first.stderr, re.MULTILINE)[1] in second.stderr
    assert re.findall(r"^Case t\d+", first.stderr, re.MULTILINE)[0] not in second.stderr


@pytest.mark.slow
def test_nothing_is_lost_at_a_terminal(evaluate: Evaluate, work: Path, environment: Mapping[str, str]) -> None:
    """At a terminal a slip is asked again; after Ctrl-C the answers that were given are in the file."""
    evaluate()
    ours, theirs = pty.openpty()
    command = [str(PROGRAM), "judge", "label", "latest"]
    program = subprocess.Popen(
        command,
        cwd=work,
        env=dict(environment),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.write(ours, b"y\nperhaps\nN\n")
    assert program.stderr is not None
    seen = ""
    while "3 of 10" not in seen:
        line = program.stderr.readline()
        assert line, seen
        seen += line
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert program.returncode == 130
    assert [line["passes"] for line in labels(work)] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stdin", "told"),
    [
        ("y\nperhaps\n\nn\n", ["stdin, line 2: 'perhaps' is none of y, n, skip, quit", "stdin, line 3: ''"]),
        ("y\n" * 11, ["stdin has 11 lines for 10 questions"]),
    ],
)
def test_bad_answers_are_told_all_at_once(
    program: Program, evaluate: Evaluate, work: Path, stdin: str, told: list[str]
) -> None:
    """A line that is no answer would shift all that follow, so nothing is written."""
    evaluate()
    done = program("judge", "label", "latest", stdin=stdin)
    assert done.code == 2
    assert all(text in done.stderr for text in told)
    assert not (work / "labels.jsonl").exists()


@pytest.mark.parametrize(
    "changes", [{"model": "m-2"}, pytest.param({"criteria": "Is it kind?"}, marks=pytest.mark.slow)]
)
def test_labels_hold_for_one_grader(
    program: Program, evaluate: Evaluate, label: Labelling, work: Path, changes: dict[str, str]
) -> None:
    """With another model or rubric the calibration is stale, and each label is refused; nothing is written."""
    assert NOT_CALIBRATED + "nobody has compared it with people" in evaluate().stderr
    label(person)
    assert program("judge", "calibrate", "latest").code == 0
    advisory = evaluate()
    assert NOT_CALIBRATED + "it is advisory, since 10 labels are fewer than 50" in advisory.stderr
    changed = "judge" if "model" in changes else "rubric"
    later = evaluate("--json", **changes)
    (notice,) = [line for line in later.document["notices"] if line.startswith(NOT_CALIBRATED)]
    assert notice.startswith(NOT_CALIBRATED + f"judge-calibration.json is stale, since the {changed}")
    for words in (["calibrate", "latest", "--output", "new.json"], ["label", "latest"]):
        done = program("judge", *words, stdin="y\n")
        assert done.code == 2
        assert done.stderr.count("error[judge.other-grader]") == 10
        assert f"labels.jsonl:10: error[judge.other-grader]: labelled for another grader: the {changed}" in done.stderr
    assert not (work / "new.json").exists()
    assert len(labels(work)) == 10


@pytest.mark.slow
def test_a_calibrated_judge_needs_no_remark(program: Program, evaluate: Evaluate, label: Labelling, work: Path) -> None:
    """No notice while the calibration holds, and one when its file is damaged; without a judge there is none."""
    evaluate()
    label(person)
    program("judge", "calibrate", "latest")
    file = work / "judge-calibration.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"advisory": []}))
    assert NOT_CALIBRATED not in evaluate().stderr
    file.write_text("{")
    assert NOT_CALIBRATED + "judge-calibration.json cannot be read" in evaluate().stderr
    record = next((work / "reports").glob("run-*.record.json"))
    for words in (["report", "show", record], ["history", "show", "latest"]):
        assert NOT_CALIBRATED + "judge-calibration.json cannot be read" in program(*words).stderr
    assert NOT_CALIBRATED not in evaluate("--no-plugin", "skillgauge-command-judge").stderr
    assert NOT_CALIBRATED not in evaluate(judged=False).stderr


@pytest.mark.slow
def test_every_judged_rate_bears_a_mark(program: Program, evaluate: Evaluate, label: Labelling, work: Path) -> None:
    """On the terminal, in Markdown, HTML, CSV and record, for what the judge lacks; a calibrated one has none."""

    def pages() -> list[str]:
        """What is said of the newest run, now, in every form."""
        forms = [
            program("history", "show", "latest", "--format", name) for name in ("markdown", "html", "csv", "record")
        ]
        assert [done.code for done in forms] == [0, 0, 0, 0]
        return [done.stdout for done in (program("report", "show", "latest"), *forms)]

    def written() -> list[str]:
        return [next((work / "reports").glob(f"eval-result.{one}")).read_text() for one in ("md", "html", "csv")]

    formats = ("--format", "markdown", "html", "csv", "record")
    first = evaluate(*formats)
    mark = "10 checks decided by a judge that is not calibrated"
    assert all(mark in text for text in (first.stdout, *written(), *pages()))
    assert "Judged checks that pass: 60.0% (n = 10)" in first.stdout
    markdown, page, _ = written()
    assert markdown.index(f"\n{mark}.\n") < markdown.index("## ")  # before any figure
    assert page.index(mark) < page.index("<h2")
    label(person)
    assert program("judge", "calibrate", "latest").code == 0
    advisory = "10 checks decided by a judge that is advisory only"
    assert all(advisory in text and mark not in text for text in pages())
    stale = "10 checks decided by a judge whose calibration is stale"
    again = evaluate(*formats, model="m-2")
    assert all(stale in text for text in (again.stdout, *written()))
    file = work / "judge-calibration.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"advisory": []}))
    evaluate(*formats)
    assert not any("checks decided by" in text for text in (*written(), *pages()))
    assert "Judged checks that pass" in written()[0]
    evaluate(*formats, judged=False)
    assert not any("udged checks" in text for text in written())


@pytest.mark.slow
def test_what_a_judge_may_decide(program: Program, evaluate: Evaluate, label: Labelling, work: Path) -> None:
    """A gate counts always, with a calibrated judge only, or never; other gates are as they were."""
    gate = ("--exit-on-fail", "--min-completion", "0.9")

    def code(setting: str, **options: Any) -> Done:
        (work / "skillgauge.config.yaml").write_text(f"judgedGates: {setting}\n")
        return evaluate(*gate, codes=(0, 1, 3), **options)

    assert code("always").code == 1
    open_ = code("calibrated")
    assert open_.code == 3
    assert open_.verdict.startswith("gate inconclusive: echo rests on a judge that is not calibrated")
    advised = code("never")
    assert (advised.code, "gate met" in advised.verdict) == (0, False)
    assert "no gate for echo: a judge decided, and it only advises (judgedGates: never)" in advised.stderr
    label(person)
    program("judge", "calibrate", "latest")
    file = work / "judge-calibration.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"advisory": []}))
    assert code("calibrated").code == 1
    assert code("calibrated", judged=False).code == 0


@pytest.mark.slow
def test_labels_that_do_not_fit_are_told_all_at_once(
    program: Program, evaluate: Evaluate, label: Labelling, work: Path
) -> None:
    """Each bad line with its place and reason; nothing is written."""
    evaluate()
    label(person)
    file = work / "labels.jsonl"
    good = labels(work)
    bad = [
        good[0] | {"execution": "0" * 32},
        good[1] | {"check": "other"},
        good[2] | {"answer": "0" * 32},
        good[3],
        good[3] | {"passes": not good[3]["passes"]},
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in [*bad, good[4]]))
    done = program("judge", "calibrate", "latest")
    assert done.code == 2
    assert re.findall(r"labels\.jsonl:(\d+): error\[judge\.([\w-]+)\]", done.stderr) == [
        ("1", "no-execution"),
        ("2", "no-check"),
        ("3", "other-answer"),
        ("5", "twice"),
    ]
    assert "line 4 has the opposite label" in done.stderr
    file.write_text(f"{json.dumps(good[0])}\n{{\n[]\n{json.dumps(good[1] | {'passes': 'yes'})}\n{json.dumps(bad[0])}\n")
    done = program("judge", "calibrate", "latest")
    assert re.findall(r"labels\.jsonl:(\d+): error\[judge\.([\w-]+)\]", done.stderr) == [
        ("2", "label"),
        ("3", "label"),
        ("4", "label"),
        ("5", "no-execution"),
    ]
    assert not (work / "judge-calibration.json").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "there is no file 'labels.jsonl'"), ("", "there is no label in it"), ("\xff", "decode")],
)
def test_without_labels_nothing_is_calibrated(
    program: Program, evaluate: Evaluate, work: Path, content: str | None, told: str
) -> None:
    """A missing, an empty and a binary file are told in one line."""
    evaluate()
    if content is not None:
        (work / "labels.jsonl").write_bytes(content.encode("latin-1"))
    done = program("judge", "calibrate", "latest")
    assert (done.code, done.stderr.count("error[")) == (2, 1)
    assert told in done.stderr
    assert not (work / "judge-calibration.json").exists()


@pytest.mark.slow
def test_runs_that_cannot_be_calibrated(program: Program, evaluate: Evaluate, work: Path) -> None:
    """No run at all, no judge in it, an unknown check, and scores that do not tell how they were asked for."""
    evaluate(judged=False)
    for words in (["label", "latest"], ["calibrate", "latest"]):
        done = program("judge", *words)
        assert done.code == 2
        assert "error[judge.nothing-judged]: no judge has decided anything in 'latest'" in done.stderr
    missing = program("judge", "calibrate", "absent.json")
    assert missing.code == 2
    assert "judge.no-labels" in missing.stderr
    assert "'absent.json' does not exist" in missing.stderr
    evaluate("--output-dir", "judged")
    unknown = program("judge", "label", "latest", "--check", "other")
    assert unknown.code == 2
    assert "error[judge.no-check]: no judge has decided a check 'other'" in unknown.stderr
    record = next((work / "judged").glob("run-*.record.json"))
    old = work / "old.record.json"
    old.write_text(re.sub(r'"prompt":"[0-9a-f]{32}",', "", record.read_text()))
    untold = program("judge", "label", old, stdin="y\n")
    assert untold.code == 2
    assert "does not tell by which prompt and rubric 10 of its checks were judged" in untold.stderr
    assert not (work / "labels.jsonl").exists()


@pytest.mark.slow
def test_claims_of_a_panel_in_both_arms(program: Program, work: Path) -> None:
    """Each claim is a check of its own in each arm; the panel is one grader, and all labels are people's word."""
    skill = work / "tables"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tables\ndescription: Tables.\n---\n")
    evals = [{"id": 1, "prompt": "Make a table.", "assertions": ["It is a table.", "It is short."]}]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "tables", "evals": evals}))

    def answer(request: ModelRequest) -> ModelReply:
        marker = re.search(r"END <name> ([0-9a-f]{32})\.", request.text)
        assert marker
        found = [{"number": number, "holds": number == 1, "quote": "table", "reason": "so"} for number in (1, 2)]
        return ModelReply(json.dumps({"marker": marker[1], "answers": found}))

    with ModelServer(answer) as server:
        command = ["eval", "tables", "--engine", "mock", "--judge", "openai,openai,openai", "--judge-model", "a,b,c"]
        done = program(
            *command, "--set", f"judges.openai.base_url={server.url}/v1", env={"OPENAI_API_KEY": "made-up-key"}
        )
    assert done.code == 0, done.stderr
    assert NOT_CALIBRATED in done.stderr
    asked = program("judge", "label", "latest", stdin="y\n" * 4)
    assert asked.verdict == "4 added, 0 skipped; 4 labels in all, 0 checks without one"
    assert asked.stderr.count("Task:\n  Make a table.") == 4
    assert [asked.stderr.count(f"What must hold:\n  {one}") for one in ("It is a table.", "It is short.")] == [2, 2]
    found = Calibration.model_validate(program("judge", "calibrate", "latest", "--json").document)
    assert [(rate.arm, rate.raw.rate, rate.corrected) for rate in found.rates] == [
        ("with_skill", 0.5, 1.0),
        ("without_skill", 0.5, 1.0),
    ]
    assert {grader.models for grader in found.graders} == {("a", "b", "c")}
    assert found.advisory[0] == "4 labels are fewer than 50"


@pytest.mark.slow
def test_a_judge_that_favours_an_arm_decides_no_gate(program: Program, biased: Biased) -> None:
    """People overrule 10 passes, all with the skill: advisory, named at every rate, and the gate stays open."""
    biased.evaluate()
    biased.label()
    shown = program("judge", "calibrate", "latest")
    assert "the judge is advisory, since its errors differ between arms" in shown.verdict
    difference = "of what people fail it passes 10 of 16 in with_skill and 0 of 21 in without_skill (p < 0.001)"
    assert difference in shown.verdict
    assert "Corrected" in shown.stdout
    assert "+50.0 points (n = 30 cases, +28.5 to +65.2)  +16.7 points (" in shown.stdout
    rates = re.findall(r"^my-skill · (\w+) +(\S+%).*\)  (\S+%) \(", shown.stdout, re.MULTILINE)
    assert rates == [("with_skill", "80.0%", "46.7%"), ("without_skill", "30.0%", "30.0%")]
    gated = biased.evaluate("--gate", "better", setting="calibrated", code=3)
    assert gated.verdict.startswith(
        "gate inconclusive: my-skill · with_skill rests on a judge that is not calibrated (judgedGates: calibrated): "
        "30 checks decided by a judge that is advisory only: its errors differ between arms: "
    )
    assert difference in gated.verdict
    told = "gates on judged checks will stay open (judgedGates: calibrated): it is advisory, since "
    assert told in gated.stderr
    assert "will stay open" not in biased.evaluate("--gate", "better", "--dry-run", setting="corrected").stderr


@pytest.mark.slow
def test_labels_of_one_arm_do_not_calibrate(program: Program, biased: Biased) -> None:
    """There is a reason in place of a corrected lift, and a run with the other arm bears the mark."""
    biased.evaluate()
    biased.label(arms=("with_skill",))
    shown = program("judge", "calibrate", "latest")
    assert "unknown: there is no label of without_skill" in shown.stdout
    assert "whether it favours an arm is unknown: 0 labels of without_skill, 10 are needed" in shown.verdict
    later = biased.evaluate()
    assert "a judge that nobody has compared with people in without_skill" in later.stdout


@pytest.mark.slow
def test_gates_ask_for_what_people_would_have_found(program: Program, biased: Biased) -> None:
    """+16.7 points where the judge says +50, and 46.7 % where it says 80, in the figures and in each gate."""
    biased.evaluate()
    biased.label()
    program("judge", "calibrate", "latest")
    better = biased.evaluate("--gate", "better", setting="corrected", code=3)
    assert "Lift over without_skill, corrected for the judge's errors: +16.7 points (n = 30 cases, -" in better.stdout
    assert "my-skill · with_skill: lift corrected for the judge's errors, +16.7 points (-" in better.verdict
    assert "may or may not be above +0.0 points" in better.verdict
    missed = biased.evaluate("--min-delta-pts", "20", setting="corrected", code=1)
    assert "lift corrected for the judge's errors, +16.7 points, is not at least +20.0 points" in missed.verdict
    biased.evaluate("--min-delta-pts", "16", setting="corrected")
    rate = biased.evaluate("--exit-on-fail", "--min-completion", "0.5", setting="corrected", code=1)
    assert "pass rate corrected for the judge's errors, 46.7%, is not at least 50.0%" in rate.verdict


@pytest.mark.slow
def test_a_gate_without_labels_of_both_arms_stays_open(program: Program, biased: Biased) -> None:
    """Without a calibration, and with labels of one arm, a clear line and no figure."""
    for setting in ("corrected", "calibrated"):
        planned = biased.evaluate("--gate", "better", "--dry-run", setting=setting)
        assert f"will stay open (judgedGates: {setting}): nobody has compared it with people" in planned.stderr
    none = biased.evaluate("--gate", "better", setting="corrected", code=3)
    reason = "rests on a judge (judgedGates: corrected): 30 checks decided by a judge that is not calibrated"
    assert reason in none.verdict
    biased.label(arms=("with_skill",))
    program("judge", "calibrate", "latest")
    for words in (("--dry-run",), ()):
        half = biased.evaluate("--gate", "better", *words, setting="corrected", code=0 if words else 3)
        assert (
            "gates on judged checks will stay open (judgedGates: corrected): nobody has compared it with people in "
            "without_skill: judge-calibration.json has no label of that; label checks of each arm"
        ) in half.stderr
    for setting, words in (("always", ("--gate", "better")), ("corrected", ())):
        assert "will stay open" not in biased.evaluate("--dry-run", *words, setting=setting).stderr
    assert "corrected for the judge's errors: there is no label of without_skill" in half.verdict
    assert "Lift over without_skill, corrected" not in half.stdout.replace("no lift over", "")
