"""A plugin that breaks when it is used costs itself: no traceback, no exit 1, and the others do their work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill, task

BOOM = 'raise RuntimeError("boom")'
LEAVES = "sys.exit(4)"
WRONG = 'return "a text"'
ONE_OF_THEM = [BOOM, *(pytest.param(body, marks=pytest.mark.slow) for body in (LEAVES, WRONG))]

PLUGIN = """
import sys
from skillgauge.api import Frozen, Provider, Traits, hookimpl
from skillgauge.api.run import LocalExecutor
from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import KINDS
from skillgauge.plugins.registry import Registry

class Options(Frozen):
    location: str = ""

class Behind:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

class Session(Behind):
    {session}

class Log(Behind):
    {log}

class Results(Behind):
    def __aiter__(self):
        return self

    async def __anext__(self):
        return await anext(self._inner)

    {results}

class Broken(Behind):
    {made}

@hookimpl
def skillgauge_{kind}():
    options = {options}
    make = lambda _options: Broken({inner})
    yield Provider("broken", make, "Breaks.", Options, Traits(schemes=("broken",)))
"""
INNER = 'Registry(read_index()).make(KINDS["{kind}"], "{base}", options)'
BASES = {
    "formats": "eval-skills",
    "sandboxes": "local",
    "reporters": "markdown",
    "adapters": "subprocess",
    "stores": "sqlite",
    "scorers": "exact",
}
SESSION = "async def open(self, *given):\n        return Session(await self._inner.open(*given))"
RESULTS = "def run(self, *given):\n        return Results(self._inner.run(*given))"
LOG = "async def begin(self, *given, **more):\n        return Log(await self._inner.begin(*given, **more))"


@pytest.fixture
def plugin(work: Path) -> Callable[..., Path]:
    """Write a plugin of which one method, or one property, has another body; the rest is what a built-in one does."""

    def write(kind: str, method: str, body: str) -> Path:
        owner, name = method.split(".") if "." in method else ("made", method)
        is_async = name in {"check", "open", "call", "close", "begin", "score", "__anext__", "aclose"} and (
            kind,
            name,
        ) != (
            "sandboxes",
            "open",
        )
        head = "@property\n    def info(self):" if name == "info" else f"def {name}(self, *given, **more):"
        parts = {"session": "pass", "log": "pass", "results": "pass", "made": "pass"}
        parts["made"] = {"session": SESSION, "log": LOG, "results": RESULTS}.get(owner, "pass")
        parts[owner] = f"{'async ' if is_async else ''}{head}\n        {body}"
        options = {"stores": {"location": "runs.db"}, "scorers": {"value": 1}}.get(kind, {})
        path = work / "broken.py"
        inner = "LocalExecutor(1)" if kind == "executors" else INNER.format(kind=kind, base=BASES[kind])
        path.write_text(PLUGIN.format(kind=kind, inner=inner, options=options, **parts))
        return path

    return write


@pytest.fixture
def evaluate(program: Program, make_skill: MakeSkill, tasks: Callable[..., Path]) -> Callable[..., Done]:
    """Evaluate a skill that passes, with a plugin."""

    def call(plugin: Path, *more: str, adapter: str = "subprocess") -> Done:
        make_skill(adapterType=adapter)
        return program.process("eval", "echo", "--tasks", tasks(task("one", 1)), "--plugin", plugin, *more)

    return call


def calm(done: Done) -> None:
    """Nothing that a user sees is a traceback or a wrong verdict."""
    assert "Traceback" not in done.stderr + done.stdout
    assert done.code != 1


@pytest.mark.slow
@pytest.mark.parametrize("body", ONE_OF_THEM)
@pytest.mark.parametrize(("kind", "method"), [("formats", "claim"), ("sandboxes", "check")])
def test_what_nobody_named_is_passed_over(
    kind: str,
    method: str,
    body: str,
    plugin: Callable[..., Path],
    evaluate: Callable[..., Done],
    environment: dict[str, str],
) -> None:
    """An evaluation goes on without it, and says so."""
    del environment["SKILLGAUGE_SANDBOX"]
    done = evaluate(plugin(kind, method, body))
    calm(done)
    assert (done.code, done.verdict) == (0, "done: 1 of 1 passed")
    assert "'broken' of " in done.stderr
    assert f"failed in {method}: " in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("body", [BOOM, LEAVES, WRONG])
@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        ("formats", "claim", ["--suite-format", "broken"]),
        ("sandboxes", "check", ["--sandbox", "broken"]),
        ("adapters", "check", []),
        ("adapters", "check_target", []),
        ("adapters", "identity", []),
        ("stores", "begin", ["--store", "broken://here"]),
        ("stores", "log.info", ["--store", "broken://here"]),
    ],
)
def test_what_is_named_is_a_problem_before_the_run(
    kind: str, method: str, words: list[str], body: str, plugin: Callable[..., Path], evaluate: Callable[..., Done]
) -> None:
    """The problem has its name, method and distribution, and nothing runs."""
    done = evaluate(plugin(kind, method, body), *words, adapter="broken" if kind == "adapters" else "subprocess")
    calm(done)
    assert done.code == 2, done.stderr
    assert f"'broken' of {plugin(kind, method, body)} sha256:" in done.stderr
    assert f"failed in {'info' if (method, body) == ('begin', WRONG) else method.removeprefix('log.')}: " in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("body", [BOOM, LEAVES, WRONG])
@pytest.mark.parametrize(("kind", "method"), [("adapters", "open"), ("adapters", "session.call"), ("scorers", "score")])
def test_what_breaks_in_a_run_is_an_error_of_its_trial(
    kind: str, method: str, body: str, plugin: Callable[..., Path], evaluate: Callable[..., Done], work: Path
) -> None:
    """The trial is an error that names the plugin; a run with nothing but errors proves nothing."""
    words = ["--check", "broken"] if kind == "scorers" else []
    done = evaluate(plugin(kind, method, body), *words, adapter="broken" if kind == "adapters" else "subprocess")
    calm(done)
    assert done.code == 3, done.stderr
    report = (work / "reports/eval-result.json").read_text()
    assert f"failed in {'call' if (method, body) == ('open', WRONG) else method.removeprefix('session.')}: " in report
    assert "'broken' of " in report


@pytest.mark.slow
@pytest.mark.parametrize("body", ONE_OF_THEM)
def test_an_executor_that_breaks_in_a_run(
    body: str, plugin: Callable[..., Path], evaluate: Callable[..., Done]
) -> None:
    """It is nobody's trial: the run ends, invalid, and the message names the executor."""
    broken = plugin("executors", "results.__anext__", body)
    done = evaluate(broken, "--executor", "broken")
    calm(done)
    assert done.code == 3, done.stderr
    assert f"executor 'broken' of {broken} sha256:" in done.stderr
    assert "failed in run: " in done.stderr


@pytest.mark.slow
def test_an_executor_that_cannot_be_closed(plugin: Callable[..., Path], evaluate: Callable[..., Done]) -> None:
    """What had run has run: the failure is only noted."""
    done = evaluate(plugin("executors", "results.aclose", BOOM), "--executor", "broken")
    calm(done)
    assert (done.code, done.verdict) == (0, "done: 1 of 1 passed")
    assert "failed in aclose: RuntimeError: boom" in done.stderr


@pytest.mark.slow
def test_a_session_that_cannot_be_closed(plugin: Callable[..., Path], evaluate: Callable[..., Done]) -> None:
    """What had run has run: the failure is only noted."""
    done = evaluate(plugin("adapters", "session.close", BOOM), adapter="broken")
    calm(done)
    assert (done.code, done.verdict) == (0, "done: 1 of 1 passed")
    assert "failed in close: RuntimeError: boom" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("body", [BOOM, LEAVES, WRONG, "yield 1"])
def test_one_report_less(body: str, plugin: Callable[..., Path], evaluate: Callable[..., Done], work: Path) -> None:
    """The other reports of the run are written, and its exit code says that one is missing."""
    done = evaluate(plugin("reporters", "render", body), "--format", "broken", "markdown", "json")
    calm(done)
    assert done.code == 2
    assert "failed in render: " in done.stderr
    written = {path.name for path in (work / "reports").iterdir()}
    assert {"eval-result.md", "eval-result.json"} <= written


@pytest.mark.slow
def test_a_reporter_that_writes_no_file(plugin: Callable[..., Path], evaluate: Callable[..., Done]) -> None:
    """One that posts its report to a chat has done its work."""
    done = evaluate(plugin("reporters", "render", "return ()"), "--format", "broken", "json")
    calm(done)
    assert (done.code, done.verdict) == (0, "done: 1 of 1 passed")


@pytest.mark.slow
@pytest.mark.parametrize("body", [BOOM, LEAVES, WRONG])
def test_a_reporter_that_cannot_read(
    body: str, plugin: Callable[..., Path], evaluate: Callable[..., Done], program: Program, work: Path
) -> None:
    """Another one reads the document."""
    broken = plugin("reporters", "read", body)
    assert evaluate(broken, "--format", "record").code == 0
    (record,) = (work / "reports").glob("run-*.record.json")
    done = program.process("report", "show", record, "--plugin", broken)
    calm(done)
    assert done.code == 0, done.stderr


def test_what_nothing_foresaw_is_an_internal_error(program: Program, work: Path, tmp_path: Path) -> None:
    """Exit 3 and one line; the traceback is in a file that nobody else can read."""
    (work / "acme.py").write_text("import click\ncommand = click.Command('acme', callback=lambda: 1 / 0)\n")
    (work / "acme-1.dist-info").mkdir()
    (work / "acme-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (work / "acme-1.dist-info/entry_points.txt").write_text("[skillgauge.commands]\nacme = acme:command\n")
    done = program.process("acme", env={"PYTHONPATH": str(work), "TMPDIR": str(tmp_path)})
    calm(done)
    assert done.code == 3
    (file,) = tmp_path.glob("skillgauge-error-*.txt")
    message = f"internal error: ZeroDivisionError: division by zero (traceback: {file})"
    assert done.stderr == f"error[internal.error]: {message}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert "Traceback" in file.read_text()
