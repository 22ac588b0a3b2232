"""`convert` in the installed program, and what it promises for every installed format."""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    FileSpec,
    Limits,
    Origin,
    Suite,
    Target,
    TextStyle,
    VerdictMode,
    VerdictRule,
)
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_command_convert.command import schemas
from skillgauge_command_convert.converting import convert
from skillgauge_command_convert.meaning import MeaningOfOptions
from skillgauge_skill_folders import skill_ref
from skillgauge_testkit.program import Program

CALCULATOR = Path(__file__).parents[4] / "examples/skills/calculator"
FORMATS = sorted({entry.name for entry in entry_points(group="skillgauge.formats")})
SKILL = "---\nname: greet\ndescription: Greets people by name when asked to say hello.\n---\nSay hello.\n"
EVALS = """{"skill_name": "greet", "evals": [
 {"id": 1, "prompt": "Greet Ada.", "expected_output": "Hello Ada", "assertions": [
  "It greets Ada by name.",
  {"text": "says hello", "type": "contains", "value": "Hello"}]},
 {"id": 2, "prompt": "Greet Bob.", "assertions": ["It greets Bob."]}]}
"""


def make_skill(folder: Path) -> Path:
    """A skill with two evals, of which one has what a judge needs no help with."""
    skill = folder / "greet"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "evals/evals.json").write_text(EVALS)
    return skill


def test_losses_are_told_by_position(program: Program, work: Path) -> None:
    """What the format names, and what only reading it back shows, each with case, field and place."""
    make_skill(work)
    done = program("convert", "greet", "--to", "skillevaluation")
    assert done.code == 0, done.stderr
    assert "name: '1'" in (work / "greet-skillevaluation/eval.yaml").read_text()
    told = done.stderr.splitlines()
    assert any(
        "evals.json:2:2: warning" in one and "'says hello' of scorer 'contains' is left out" in one for one in told
    )
    assert any("evals.json:3:3: warning" in one and "'It greets Ada by name.': options" in one for one in told), told
    assert any("evals.json:2:" in one and "extra 'expected_output' is not kept" in one for one in told), told
    assert done.verdict.startswith("1 suite converted to skillevaluation; 7 losses")


def test_what_is_written_is_a_suite(program: Program, work: Path) -> None:
    """The result validates as what it was converted to, and going on from there loses nothing more."""
    make_skill(work)
    assert program("convert", "greet", "--to", "skillevaluation", "-o", "there/greet").code == 0
    done = program("convert", "there/greet", "--to", "skillevaluation", "--strict", "-o", "again/greet")
    assert (done.code, done.verdict) == (0, "1 suite converted to skillevaluation; nothing is lost"), done.stderr
    assert (work / "there/greet/eval.yaml").read_bytes() == (work / "again/greet/eval.yaml").read_bytes()


def test_strict_writes_nothing(program: Program, work: Path) -> None:
    """Every loss is an error with its place, the exit code is 2 and there is no file."""
    make_skill(work)
    before = sorted(work.rglob("*"))
    done = program("convert", "greet", "--to", "skillevaluation", "--strict", "-o", "there")
    assert done.code == 2
    assert done.stderr.count("error[suite.loss]") == 7
    assert "warning" not in done.stderr
    assert sorted(work.rglob("*")) == before


def test_the_document(program: Program, work: Path) -> None:
    """`--json` prints the report as its schema says."""
    make_skill(work)
    document = program("convert", "greet", "--to", "skillevaluation", "--json").document
    jsonschema.validate(document, schemas()["convert"])
    (suite,) = document["suites"]
    assert [one["path"] for one in suite["files"]] == ["SKILL.md", "eval.yaml"]
    assert len(suite["losses"]) == 7


def test_nothing_is_overwritten(program: Program, work: Path) -> None:
    """Another content is an error for every file; the same content is left alone; `--overwrite` says what it does."""
    skill = make_skill(work)
    (skill / "eval.yaml").write_text("mine\n")
    refused = program("convert", "greet/evals/evals.json", "--to", "skillevaluation", "-o", "greet")
    assert refused.code == 2
    assert "eval.yaml' is there already" in refused.stderr
    assert (skill / "eval.yaml").read_text() == "mine\n"
    done = program("convert", "greet/evals/evals.json", "--to", "skillevaluation", "-o", "greet", "--overwrite")
    assert done.code == 0, done.stderr
    assert f"unchanged: {skill / 'SKILL.md'}" in done.stdout
    assert f"replaced: {skill / 'eval.yaml'}" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((CALCULATOR, "--to", "uaaps"), "cannot be written as 'uaaps'"),
        (("greet", "--to", "agent-skill"), "agent-skills"),
        (("nowhere", "--to", "benchflow"), "does not exist"),
    ],
)
def test_refusals(program: Program, work: Path, arguments: tuple[str | Path, ...], told: str) -> None:
    """A format that writes nothing, one that is not there, and a path that is not there: exit 2."""
    make_skill(work)
    done = program("convert", *arguments)
    assert (done.code, told in done.stderr) == (2, True), done.stderr


def test_direct_calls_are_nothing_that_an_agent_is_asked(program: Program, work: Path) -> None:
    """A benchmark asks no agent anything, so it is no suite of skillevaluation: exit 2 with the reason, and no file."""
    done = program("convert", CALCULATOR, "--to", "skillevaluation", "-o", "there")
    assert done.code == 2
    assert "is left out: it has no prompt" in done.stderr
    error, _ = done.stderr.splitlines()[-2:]  # below all that is only lost, where people look
    assert error.endswith("cannot be written as 'skillevaluation'")
    assert not (work / "there").exists()


WORDS = st.text(alphabet="abc XYZ-", min_size=1, max_size=12).map(str.strip).filter(bool)
CHECKS = st.one_of(
    st.builds(lambda text: ("rubric", {"claims": (text,)}), WORDS),
    st.builds(lambda text: ("rubric", {"criteria": text}), WORDS),
    st.builds(lambda text, flag: ("contains", {"keywords": (text,), "absent": flag}), WORDS, st.booleans()),
    st.builds(
        lambda code: ("command", {"command": "true", "expect_exit_code": code, "label": "run"}), st.integers(0, 3)
    ),
    st.just(("exact", {"value": "x"})),
)


@st.composite
def cases(draw: st.DrawFn, number: int) -> Case:
    """A case with anything that some format cannot say."""
    checks = [
        Check(id=f"check {index}", scorer=scorer, options=options, weight=draw(st.sampled_from([1.0, 2.0])))
        for index, (scorer, options) in enumerate(draw(st.lists(CHECKS, min_size=1, max_size=3)))
    ]
    return Case(
        id=f"case-{number}",
        prompt=draw(WORDS),
        description=draw(st.one_of(st.just(""), WORDS)),
        tags=draw(st.lists(st.sampled_from(["a", "b"]), unique=True).map(tuple)),
        files=draw(st.sampled_from([(), (FileSpec(path="in.txt", text="x"),)])),
        setup=draw(st.sampled_from([(), ("true",)])),
        env=draw(st.sampled_from([{}, {"A": "b"}])),
        checks=tuple(checks),
        rule=draw(
            st.sampled_from([VerdictRule(), VerdictRule(mode=VerdictMode.MEAN, threshold=0.5)]),
        ),
        weight=draw(st.sampled_from([1.0, 3.0])),
        limits=Limits(timeout_s=draw(st.sampled_from([None, 5.0])), max_turns=draw(st.sampled_from([None, 4]))),
        network=draw(st.booleans()),
        origin=Origin("suite.json", ("cases", number)),
    )


@pytest.fixture(scope="module")
def call() -> Invocation:
    """The command line's view of what is installed, made once: it does not change."""
    return invocation(Globals())


def suite_of(name: str, root: Path, made: tuple[Case, ...]) -> Suite:
    """A suite about a skill, in the arms that a format knows: direct calls in one, sessions in the others."""
    if name == "eval-skills":
        return Suite(
            id="s",
            format=name,
            root=str(CALCULATOR),
            cases=made,
            targets=(Target(id="calculator", root=str(CALCULATOR)),),
        )
    ref = skill_ref(root, "greet", ("evals",))
    arms = (Arm(name="with_skill", kind=ArmKind.AGENT, skills=(ref,)), Arm(name="without_skill", kind=ArmKind.AGENT))
    pair = Comparison(candidate="with_skill", baseline="without_skill")
    target = Target(id="greet", root=str(root))
    return Suite(
        id="s", format="made-up", root=str(root), cases=made, targets=(target,), arms=arms, comparisons=(pair,)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_nothing_is_lost_unnamed(name: str, data: st.DataObject, call: Invocation) -> None:
    """There and back each case has the same digests, or the report names that case; this holds for every format."""
    _assert_named(call, name, tuple(data.draw(cases(number)) for number in range(data.draw(st.integers(1, 3)))))


@pytest.mark.parametrize("name", FORMATS)
def test_a_case_of_which_nothing_can_be_checked_is_left_out_by_name(name: str, call: Invocation) -> None:
    """All formats tell it in the same words, whether or not another case remains."""
    style = {"text": TextStyle.JSON}
    json_texts = Check.model_validate({"id": "check 0", "scorer": "exact", "options": {"value": "x"}, "answer": style})
    said = Check(id="check 0", scorer="contains", options={"keywords": ["x"]})
    odd, plain = Case(id="odd", prompt="X", checks=(json_texts,)), Case(id="plain", prompt="X", checks=(said,))
    _assert_named(call, name, (odd,))
    _assert_named(call, name, (odd, plain))


def _assert_named(call: Invocation, name: str, made: tuple[Case, ...]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        suite = suite_of(name, make_skill(Path(scratch)), made)
        converted = convert(call, suite, name, call.suite_format(name))
        if any("would assert nothing" in one.message for one in converted.refusals):
            return  # each such case is named
        if converted.refusals:  # no case is left that this format can check
            assert all(f"case {one.id!r} is left out" in " ".join(x.message for x in converted.losses) for one in made)
            return
        written = Path(scratch) / "back/greet"
        for path, content in converted.files:
            (written / path).parent.mkdir(parents=True, exist_ok=True)
            (written / path).write_bytes(content)
        roots = [CALCULATOR] if name == "eval-skills" else []
        read = call.suites(written, *roots, suite_format=name).suites
        back = {case.id: case for case in read[0].cases}
        named = " ".join(one.message for one in converted.losses)
        for case in made:
            mine = back.get(case.id)
            if mine is None or not _is_same(call, case, mine):
                assert f"case {case.id!r}" in named, json.dumps(case.model_dump(mode="json"))


def _is_same(call: Invocation, one: Case, other: Case) -> bool:
    one, other = _with_texts(one), _with_texts(other)
    return (one.execution_digest, assertions(call, one), one.rule, one.weight, one.tags, one.limits) == (
        other.execution_digest,
        assertions(call, other),
        other.rule,
        other.weight,
        other.tags,
        other.limits,
    )


def assertions(call: Invocation, case: Case) -> list[str]:
    """Everything that the checks of a case assert, whatever they are called."""
    meaning = MeaningOfOptions(call.registry.options_model)
    plain = (check.model_copy(update={"id": "", "options": meaning(check)}) for check in case.checks)
    return sorted(check.digest for check in plain)


def _with_texts(case: Case) -> Case:
    """The same with the content of its files in it, wherever a format puts that."""
    files = [FileSpec(path=file.path, text=_text(file), executable=file.executable) for file in case.files]
    return case.model_copy(update={"files": tuple(files)})


def _text(file: FileSpec) -> str:
    return Path(file.source).read_text() if file.source is not None else file.text or ""


def test_claims_with_a_reference_are_kept(program: Program, work: Path) -> None:
    """R3-W-10: waza has no place for what is expected, so its judge finds it in the claim."""
    skill = make_skill(work)
    done = program("convert", "greet", "--to", "waza", "-o", "out")
    assert done.code == 0, done.stderr
    (task,) = (work / "out/tasks").glob("*1.yaml")
    assert "It greets Ada by name." in task.read_text()
    assert "Hello Ada" in task.read_text()
    assert program("validate", "out").code == 0
    assert skill.is_dir()


def test_a_case_that_would_assert_nothing_is_no_success(program: Program, work: Path) -> None:
    """R3-W-10: none of its checks can be written, so nothing is, and the exit code is 2."""
    skill = make_skill(work)
    check = {"text": "It is a 7.", "threshold": 0.7}
    (skill / "evals/evals.json").write_text(json.dumps({"evals": [{"id": 1, "prompt": "p", "assertions": [check]}]}))
    done = program("convert", "greet", "--to", "waza", "-o", "out")
    assert done.code == 2, done.stderr
    assert "error[convert.unreadable]: case '1' would assert nothing as 'waza'" in done.stderr
    assert not (work / "out").exists()


def test_a_name_is_one_loss_for_all_checks(program: Program, work: Path) -> None:
    """R3-F28: checks that go by other names there lose nothing else, and are named together."""
    skill = make_skill(work)
    check = {"text": "says hello", "type": "contains", "value": "Hello"}
    checks = [check, {"text": "is short", "type": "icontains", "value": "Ada", "note": "kept by nobody"}]
    evals = [{"id": one, "prompt": f"Greet {one}.", "assertions": checks} for one in range(1, 5)]
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greet", "evals": evals}))
    done = program("convert", "greet", "--to", "promptfoo", "-o", "out")
    assert done.stderr.count("checks go by other names: 'says hello' (4)") == 1
    assert "assertions.says hello" not in done.stderr
    assert done.stderr.count("extra 'assertions.is short' is not kept") == 4
