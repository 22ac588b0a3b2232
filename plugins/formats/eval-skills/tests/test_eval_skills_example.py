"""The example skill that ships with the repository."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillgauge.api import Loaded

CALCULATOR = Path(__file__).parents[4] / "examples/skills/calculator"


@pytest.fixture(scope="module")
def answer() -> Callable[[dict[str, Any]], Any]:
    """Calls the skill's code in this process."""
    skill = runpy.run_path(str(CALCULATOR / "skill.py"))

    def call(params: dict[str, Any]) -> Any:
        reply = skill["answer"]({"jsonrpc": "2.0", "method": "invoke", "params": params, "id": 1})
        return reply["result"]["result"]

    return call


def test_it_solves_coding_easy(load: Callable[..., Loaded], answer: Callable[[dict[str, Any]], Any]) -> None:
    """Every answer is the expected text."""
    (suite,) = load(CALCULATOR, benchmark="coding-easy").suites
    assert suite.warnings == ()
    for case in suite.cases:
        assert isinstance(case.input, dict)
        assert answer(case.input) == case.checks[0].options["value"], case.id


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2**10 - -1", "1025"),
        ("2**-1", "0.5"),
        ("7//2 + 7%2", "4"),
        ("3!!", "720"),
        ("9**9**9", "error: the number is too large"),
        ("10**3000 * 10**3000", "error: the number is too large"),
        ("10.0**400", "error: the number is too large"),
        ("(-8)**0.5", "error: the result is no real number"),
        ("1e400", "error: the result is no real number"),
        ("1/0", "error: division by zero"),
        ("0**-1", "error: division by zero"),
        ("1001!", "error: factorials are computed of whole numbers from 0 to 1000"),
        ("2.5!", "error: factorials are computed of whole numbers from 0 to 1000"),
        ("__import__('os')", "error: only numbers, + - * / // % ** and parentheses are computed"),
        ("True", "error: only numbers, + - * / // % ** and parentheses are computed"),
        ("2 +", "error: not an arithmetic expression"),
        ("1" * 201, "error: the expression is too long"),
    ],
)
def test_arithmetic_is_bounded_and_safe(
    answer: Callable[[dict[str, Any]], Any], expression: str, expected: str
) -> None:
    """Nothing is executed as code, and no expression occupies the processor."""
    assert answer({"expression": expression}) == expected


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        (
            '{"jsonrpc":"2.0","method":"invoke","params":{"expression":"5!"},"id":1}',
            {"id": 1, "result": {"result": "120"}},
        ),
        ('{"jsonrpc":"2.0","method":"healthcheck","params":{},"id":0}', {"id": 0, "result": {"status": "healthy"}}),
        ('{"method":"x","id":3}', {"id": 3, "error": {"code": -32601, "message": "unknown method"}}),
        ("[1", {"id": None, "error": {"code": -32700, "message": "not a JSON-RPC request"}}),
    ],
)
def test_it_speaks_the_protocol(request_text: str, expected: dict[str, Any]) -> None:
    """As a process it answers one request with one line."""
    done = subprocess.run(
        [sys.executable, "-B", "skill.py"],
        input=request_text,
        capture_output=True,
        text=True,
        check=True,
        cwd=CALCULATOR,
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(line) == {"jsonrpc": "2.0", **expected}


def test_it_also_works_as_a_worker() -> None:
    """One process answers each line while its input stays open, and goes on after a line that is no request."""
    lines = [
        '{"jsonrpc":"2.0","method":"healthcheck","params":{},"id":2}',
        "[1",
        '{"jsonrpc":"2.0","method":"invoke","params":{"expression":"2+3*4"},"id":3}',
    ]
    with subprocess.Popen(
        [sys.executable, "-B", "skill.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CALCULATOR
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        replies = []
        for line in lines:
            worker.stdin.write(f"{line}\n")
            worker.stdin.flush()
            replies.append(json.loads(worker.stdout.readline()))
    assert worker.returncode == 0
    assert [reply["id"] for reply in replies] == [2, None, 3]
    assert replies[2]["result"] == {"result": "14"}
