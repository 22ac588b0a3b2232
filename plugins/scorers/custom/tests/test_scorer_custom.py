"""A user's function decides, and breaks without harm."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from skillgauge.api import DIRECT, Case, Check, Execution, Finished, LaunchError, SandboxSpec, Score, ScoreContext
from skillgauge.api import ScoreStatus as Status
from skillgauge_scorer_custom.child import answer, clean
from skillgauge_scorer_custom.options import CustomOptions
from skillgauge_scorer_custom.scorer import CustomScorer
from skillgauge_testkit import FakeWorkspace, TemporarySandbox

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def context(output: Any = None, *, text: str | None = None, case: Case | None = None) -> ScoreContext:
    """What a scorer is shown, without a workspace."""
    execution = Execution(output=output, text=text)
    return ScoreContext(
        check=Check(id="c", scorer="custom"), case=case or Case(id="c"), execution=execution, arm=DIRECT
    )


def score(
    path: Path | str, output: Any = None, *, text: str | None = None, case: Case | None = None, **options: Any
) -> Score:
    """The score of an output or an agent's text, from a real process."""
    scorer = CustomScorer(CustomOptions.model_validate({"path": str(path), "timeout_s": 60, **options}))
    shown = context(output, text=text, case=case)

    async def run() -> Score:
        async with TemporarySandbox().open(SandboxSpec(label="custom", pass_env=("TARGETS_OWN_KEY",))) as workspace:
            return await scorer.score(ScoreContext(**{**vars(shown), "workspace": workspace}))

    return asyncio.run(run())


def answered(line: str, **ended: Any) -> Score:
    """The score if the process writes this; MARKER stands for the marker."""
    facts = {"exit_code": 0, "signal": None, "stderr": b"", "duration_s": 0.1, **ended}

    def run(command: Any, _workspace: FakeWorkspace) -> Finished:
        marker = json.loads(command.stdin)["marker"]
        return Finished(stdout=line.replace("MARKER", marker).encode(), **facts)

    scorer = CustomScorer(CustomOptions(path="json:dumps"))
    return asyncio.run(scorer.score(ScoreContext(**{**vars(context()), "workspace": FakeWorkspace(run)})))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A scorer that returns what it was given as output."""
    path = tmp_path / "echo.py"
    path.write_text("def score(output, expected):\n    return output\n")
    return path


RESULTS: list[tuple[Any, Status, float, str]] = [
    (True, Status.PASSED, 1, ""),
    (False, Status.FAILED, 0, "dumps gave 0"),
    (0.25, Status.FAILED, 0.25, "dumps gave 0.25"),
    (1, Status.PASSED, 1, ""),
    (7.5, Status.PASSED, 1, ""),
    (-3, Status.FAILED, 0, "dumps gave 0"),
    ({"passed": True}, Status.PASSED, 1, ""),
    ({"passed": True, "score": 0.8, "reason": "nearly"}, Status.PASSED, 0.8, "nearly"),
    ({"passed": False, "score": 0.8}, Status.FAILED, 0.8, "dumps gave 0.8"),
    ({"passed": False, "reason": "no", "more": [1]}, Status.FAILED, 0, "no"),
    ({"passed": False, "reason": "\ud800"}, Status.FAILED, 0, "?"),
]


@pytest.mark.parametrize(("result", "status", "value", "reason"), RESULTS)
@pytest.mark.requirement("ES-SCORE-007")
def test_results(result: Any, status: Status, value: float, reason: str) -> None:
    """A truth value, a number that is kept between 0 and 1, or an object with verdict, score and reason."""
    found = answered(f"\nMARKER {json.dumps({'result': result})}\n")
    told = reason.replace("dumps", "Scorer json:dumps").removeprefix("Scorer ")
    assert (found.status, found.value, found.reason) == (status, value, told)


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (None, "returned null, which is not true, false, a number, or an object with `passed`"),
        ("yes", 'returned "yes", which is not'),
        ([True], "returned [true], which is not"),
        ({}, "returned {}, which is not"),
        ({"passed": 1}, 'returned {"passed": 1}, which is not'),
        ({"passed": True, "score": "1"}, 'returned the score "1", which is no number'),
        ({"passed": True, "score": True}, "returned the score true, which is no number"),
        ({"passed": True, "reason": 1}, "returned the reason 1, which is no text"),
    ],
)
def test_other_results_are_ungraded(result: Any, told: str) -> None:
    """What is no verdict is nobody's failure."""
    found = answered(f"\nMARKER {json.dumps({'result': result})}\n")
    assert found.status is Status.UNGRADED
    assert told in found.reason


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "ended with exit code 0 before it gave a result"),
        ('\nguessed {"result": true}\n', "before it gave a result"),
        ('\nMARKER {"result": tr', "gave a result that is too long"),
        ("\nMARKER {\n", "gave a result that cannot be read"),
        ('\nMARKER {"error": "ValueError: x"}\n', "broke: ValueError: x"),
    ],
)
def test_other_lines_are_ungraded(line: str, told: str) -> None:
    """Only a whole line with the marker is a result."""
    found = answered(line)
    assert found.status is Status.UNGRADED
    assert told in found.reason


def test_ends_of_the_process_are_told() -> None:
    """Time and signals are named, and what it said last is evidence."""
    assert "did not answer within 5 s" in answered("", timed_out=True).reason
    assert "ended with signal 9" in answered("", exit_code=None, signal=9).reason
    assert answered("", stderr=b"last \xff words").evidence == {"stderr": "last \ufffd words"}


def test_long_reasons_are_cut() -> None:
    """A reason stays readable."""
    found = answered(f"\nMARKER {json.dumps({'result': {'passed': True, 'reason': 'x' * 5000}})}\n")
    assert found.reason.endswith("x… (4000 more characters)")


def test_without_a_workspace_it_is_ungraded(file: Path) -> None:
    """A stored run is graded again without one."""
    found = asyncio.run(CustomScorer(CustomOptions(path=str(file))).score(context(True)))
    assert found.status is Status.UNGRADED
    assert "runs in the workspace" in found.reason


def test_a_process_that_cannot_start_is_ungraded() -> None:
    """Where nothing can be started, nothing is proved."""

    def refuse(_command: Any, _workspace: FakeWorkspace) -> Finished:
        raise LaunchError("no process left")

    scorer = CustomScorer(CustomOptions(path="json:dumps"))
    found = asyncio.run(scorer.score(ScoreContext(**{**vars(context()), "workspace": FakeWorkspace(refuse)})))
    assert (found.status, found.reason) == (Status.UNGRADED, "Scorer json:dumps could not be started: no process left")


@pytest.mark.requirement("ES-SCORE-007")
def test_a_python_file_decides(file: Path) -> None:
    """The function is given the output as JSON has it, for an agent its text."""
    assert score(file, {"passed": True, "score": 0.5, "reason": "é"}).reason == "é"
    file.write_text("async def score(output, expected):\n    return output == expected\n")
    assert score(file, {"a": [1, None]}, expected={"a": [1, None]}).status is Status.PASSED
    assert score(file, text="done", expected="done").status is Status.PASSED


def test_expected_is_what_the_case_keeps(file: Path) -> None:
    """Without the option it is the case's own `expectedOutput`; an option rules over it."""
    file.write_text("def score(output, expected):\n    return {'passed': True, 'reason': repr(expected)}\n")
    case = Case(id="c", extras={"expectedOutput": {"value": 4}})
    assert score(file, case=case).reason == "{'value': 4}"
    assert score(file, case=case, expected=None).reason == "None"


def test_an_installed_function_decides(file: Path) -> None:
    """`module:function` needs no file."""
    assert score("operator:eq", 1, expected=1).status is Status.PASSED


def test_files_lie_around_it(file: Path) -> None:
    """It is in the workspace, imports from its own folder, and leaves no bytecode there."""
    (file.parent / "beside.py").write_text("ANSWER = 1\n")
    file.write_text(
        "import os, beside\n"
        "def score(output, expected):\n"
        "    return {'passed': os.listdir() == [], 'score': beside.ANSWER, 'reason': os.path.basename(os.getcwd())}\n"
    )
    found = score(file)
    assert (found.status, found.reason) == (Status.PASSED, "work")
    assert sorted(path.name for path in file.parent.iterdir()) == ["beside.py", "echo.py"]


def test_prints_are_no_results(file: Path) -> None:
    """Whatever it and its children write, however much, the result is the returned one."""
    file.write_text(
        "import os, sys\n"
        "def score(output, expected):\n"
        "    print('\\n{\"result\": true}')\n"
        "    os.write(1, b'x' * 1_000_000)\n"
        "    os.system('echo from a child')\n"
        "    sys.stdout = None\n"
        "    return 0.5\n"
    )
    assert score(file).value == 0.5


def test_the_environment_is_bare(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a variable of the user nor one that the target may see gets there."""
    monkeypatch.setenv("TARGETS_OWN_KEY", "canary")
    monkeypatch.setenv("USERS_OWN_KEY", "canary")
    file.write_text(
        "import os\ndef score(output, expected):\n    return {'passed': True, 'reason': ' '.join(sorted(os.environ))}\n"
    )
    names = score(file).reason.split()
    assert {name for name in names if not name.startswith("SKILLGAUGE_")} <= {
        *("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
    }


@pytest.mark.requirement("ES-DEFECT-11")
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def score(output, expected):\n    raise ValueError('odd')\n", "broke: ValueError: odd"),
        ("def score(output, expected):\n    exit(3)\n", "broke: SystemExit: 3"),
        ("import os\ndef score(output, expected):\n    os._exit(3)\n", "ended with exit code 3 before"),
        ("def score(output, expected):\n    return 'x' * 1_000_000\n", "gave a result that is too long"),
        ("def score(output, expected):\n    return bytearray(200_000_000)\n", "broke: MemoryError"),
        ("def score(output", "broke: SyntaxError"),
    ],
)
def test_functions_that_break_are_ungraded(file: Path, code: str, told: str) -> None:
    """An exception, an exit, too much memory: each is told, none is a failed check."""
    file.write_text(code)
    found = score(file, memory_mb=100)
    assert found.status is Status.UNGRADED
    assert told in found.reason


def test_a_function_that_hangs_is_ungraded(file: Path) -> None:
    """It is stopped when its time is over."""
    file.write_text("import time\ndef score(output, expected):\n    time.sleep(600)\n")
    found = score(file, timeout_s=0.3)
    assert (found.status, found.reason) == (Status.UNGRADED, "Scorer echo.py did not answer within 0.3 s")


def test_threads_left_behind_do_not_hang(file: Path) -> None:
    """The result ends the process."""
    file.write_text(
        "import threading, time\n"
        "def score(output, expected):\n"
        "    threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "    return True\n"
    )
    assert score(file).status is Status.PASSED


def test_version_follows_the_file(file: Path) -> None:
    """An edited scorer is another scorer; an installed one is known by name only."""
    before = CustomScorer(CustomOptions(path=str(file))).version
    file.write_text("def score(output, expected):\n    return 1\n")
    assert CustomScorer(CustomOptions(path=str(file))).version != before
    assert CustomScorer(CustomOptions(path="json:dumps")).version == "1"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("absent.py", "'absent.py' is not there, or is no file"),
        ("tone.ts", "'tone.ts' is no scorer: it must be a .py, .js, .mjs or .cjs file, or `module:function`"),
        ("no_such_module.x:score", "module 'no_such_module' of 'no_such_module.x:score' is not installed here"),
    ],
)
def test_what_is_no_scorer_is_refused(path: str, told: str) -> None:
    """It is found out before anything runs."""
    with pytest.raises(ValidationError) as raised:
        CustomOptions.model_validate({"path": path})
    assert told in str(raised.value)


def test_relative_paths_start_in_the_current_directory(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has another one, so the path is made absolute at once."""
    monkeypatch.chdir(file.parent)
    assert CustomOptions(path="echo.py").path == str(file)


def test_options_are_checked(file: Path) -> None:
    """A path is required, times and sizes are sensible, and nothing unknown is accepted."""
    wrong: tuple[dict[str, Any], ...] = ({}, {"timeout_s": 0}, {"memory_mb": 1}, {"customScorerPath": "x.py"})
    for options in wrong:
        with pytest.raises(ValidationError):
            CustomOptions.model_validate({"path": str(file), **options} if options else {})


@pytest.mark.requirement("ES-SCORE-008")
def test_javascript_without_node_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no node is told before anything runs, with what the file would look like in Python."""
    (tmp_path / "tone.mjs").write_text("export default () => true;\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValidationError, match="node is not installed here") as raised:
        CustomOptions.model_validate({"path": str(tmp_path / "tone.mjs")})
    told = str(raised.value)
    assert "tone.mjs" in told
    assert "tone.py with a function `score(output, expected)`" in told


@needs_node
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("tone.mjs", "export default (output, expected) => output === expected;"),
        ("tone.mjs", "export default async (output, expected) => ({passed: output === expected, score: 1});"),
        ("tone.cjs", "module.exports = (output, expected) => output === expected ? 3 : 0;"),
        (
            "tone.js",
            "Object.defineProperty(exports, '__esModule', {value: true}); exports.default = (a, b) => a === b;",
        ),
        ("tone.js", "console.log('\\n{}'); module.exports = (a, b) => { console.log(a); return a === b; };"),
    ],
)
@pytest.mark.requirement("ES-SCORE-008")
def test_javascript_decides(tmp_path: Path, name: str, code: str) -> None:
    """A scorer that was written for eval-skills runs as it is, of either kind of module, sync or async."""
    (tmp_path / name).write_text(code)
    assert score(tmp_path / name, "é", expected="é").value == 1
    assert score(tmp_path / name, "no", expected="é").value in (0, 1)
    assert score(tmp_path / name, "no", expected="é").status is Status.FAILED


@needs_node
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("export default () => { throw new RangeError('odd'); };", "broke: RangeError: odd"),
        ("export default () => { throw 'text'; };", "broke: it threw text"),
        ("export default () => process.exit(0);", "ended with exit code 0 before"),
        ("export default () => new Promise(() => {});", "ended with exit code 13 before"),
        (
            "export default () => { setTimeout(() => { throw new Error('late'); }); return new Promise(() => {}); };",
            "late",
        ),
        ("export default () => undefined;", "broke: it returned undefined"),
        ("export default () => NaN;", "broke: NaN is no number"),
        ("export default () => ({passed: true, score: NaN});", "broke: NaN is no number"),
        ("export default () => { const a = {}; a.a = a; return a; };", "broke: TypeError"),
        ("export default () => 'yes';", 'returned "yes", which is not'),
        ("export const score = () => true;", "its default export is no function"),
        ("export default (", "broke: SyntaxError"),
    ],
)
def test_javascript_that_breaks_is_ungraded(tmp_path: Path, code: str, told: str) -> None:
    """Exceptions now and later, exits and odd results are told, and none hangs the run."""
    (tmp_path / "tone.mjs").write_text(code)
    found = score(tmp_path / "tone.mjs")
    assert found.status is Status.UNGRADED
    assert told in found.reason


@pytest.mark.slow
@needs_node
def test_javascript_that_hangs_is_ungraded(tmp_path: Path) -> None:
    """It is stopped when its time is over."""
    (tmp_path / "tone.mjs").write_text("export default () => { for (;;) ; };")
    assert "did not answer within 1 s" in score(tmp_path / "tone.mjs", timeout_s=1).reason


@needs_node
def test_javascript_sees_a_bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the target gets there."""
    monkeypatch.setenv("TARGETS_OWN_KEY", "canary")
    (tmp_path / "tone.mjs").write_text("export default () => process.env.TARGETS_OWN_KEY === undefined;")
    assert score(tmp_path / "tone.mjs").status is Status.PASSED


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def score(output, expected):\n    return output + expected\n", {"result": 3}),
        ("async def score(output, expected):\n    return True\n", {"result": True}),
        ("score = 1\n", {"error": "TypeError: it has no function `score(output, expected)`"}),
        ("def score(output, expected):\n    raise SystemExit\n", {"error": "SystemExit: "}),
        ("def score(output, expected):\n    return float('nan')\n", None),
        ("def score(output, expected):\n    return {1}\n", None),
        ("def score(output, expected):\n    return 10 ** 5000\n", None),
    ],
)
def test_the_child_answers_with_json(file: Path, monkeypatch: pytest.MonkeyPatch, code: str, told: Any) -> None:
    """Whatever the function does, there is a result or what went wrong; tried here, without a process."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.write_text(code)
    found = json.loads(answer({"path": str(file), "output": 1, "expected": 2}))
    assert found == told if told else "is no JSON value" in found["error"]


def test_the_child_finds_installed_functions() -> None:
    """`module:function` is imported."""
    assert json.loads(answer({"path": "operator:add", "output": 1, "expected": 2})) == {"result": 3}


def test_the_child_forgets_variables() -> None:
    """All but a few harmless ones, and our own."""
    environ = {"PATH": "p", "SKILLGAUGE_PROCESS": "m", "API_KEY": "k"}
    clean(environ)
    assert environ == {"PATH": "p", "SKILLGAUGE_PROCESS": "m"}
