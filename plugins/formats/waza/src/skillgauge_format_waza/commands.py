"""Graders that run something, as shell commands; written so that the grader can be read from the command again."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

ANSWER = "response.txt"
_RUNNER = """import json, re, sys
names = dict(len=len, any=any, all=all, re=re, str=str, int=int, float=float, bool=bool, list=list, dict=dict)
names["output"] = open("response.txt", encoding="utf-8").read()
failed = []
for written in sys.argv[1:]:
    try:
        if not eval(written, {"__builtins__": {}, **names}):
            failed.append(written)
    except Exception as error:
        failed.append(f"{written}: {error}")
count = len(sys.argv) - 1
print(json.dumps({"score": (count - len(failed)) / count, "reason": "; ".join(failed) or "all hold"}))
"""
_PYTHON = ("python3", "-I", "-c", _RUNNER)
_KNOWN = frozenset(["output", "re", "len", "any", "all", "str", "int", "float", "bool", "list", "dict"])
SHELL, _ENTER = "sh", 'cd "$WAZA_WORKSPACE_DIR" || exit 1\n'
_WITH_CODE = re.compile(r"\( (?P<command>.*)\n\)\n\[ \$\? -eq (?P<code>\d+) \]", re.DOTALL)
_WORKSPACE = 'WAZA_WORKSPACE_DIR="$PWD"'


def code_command(assertions: Sequence[str]) -> str:
    """A command that prints which share of expressions is true of the answer."""
    return shlex.join((*_PYTHON, *assertions))


def program_command(command: str, args: Sequence[str]) -> str:
    """A command that hands the answer to a program."""
    return f"{_WORKSPACE} {shlex.join((command, *args))} < {ANSWER}"


def assertions_of(command: str) -> tuple[str, ...] | None:
    """The expressions of such a command; `None` if it is another one."""
    words = _words(command)
    return tuple(words[len(_PYTHON) :]) if tuple(words[: len(_PYTHON)]) == _PYTHON else None


def program_of(command: str) -> tuple[str, ...] | None:
    """The words of a command that hands the answer to a program; `None` if it is another one."""
    if not command.startswith(f"{_WORKSPACE} ") or not command.endswith(f" < {ANSWER}"):
        return None
    words = tuple(_words(command[len(_WORKSPACE) : -len(f" < {ANSWER}")]))
    return words if words and program_command(words[0], words[1:]) == command else None


def shell_program(command: str, code: int) -> str:
    """Return the program for `sh -c` that runs a command in the workspace and passes if it exits with a code."""
    return f"{_ENTER}{command}" if not code else f"{_ENTER}( {command}\n)\n[ $? -eq {code} ]"


def shell_command(program: str, args: Sequence[str]) -> tuple[str, int] | None:
    """Return the command of such a program, and its code; `None` if it is another program."""
    if program != SHELL or len(args) != 2 or args[0] != "-c" or not args[1].startswith(_ENTER):
        return None
    inner = args[1].removeprefix(_ENTER)
    with_code = _WITH_CODE.fullmatch(inner)
    return (inner, 0) if with_code is None else (with_code["command"], int(with_code["code"]))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


@dataclass(frozen=True)
class Measured:
    """An expression about the session, and not about its answer."""

    limit: str
    """Option of the scorer `usage`, or empty: at least one tool has to be called."""
    most: float = 0.0


def measured(expression: str) -> Measured | None:
    """Return the demand of an expression on duration or tool calls; `None` if it says something else.

    Raises:
        ValueError: it is no expression, or needs what nobody knows here; with the reason.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"it is no Python expression: {getattr(error, 'msg', error)}") from error
    if (comparison := _comparison(tree.body)) is not None:
        return comparison
    own = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    own |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    used = dict.fromkeys(one.id for one in ast.walk(tree) if isinstance(one, ast.Name))
    if strange := [name for name in used if name not in own | _KNOWN]:
        raise ValueError(f"it needs {', '.join(strange)}, and only the output is looked at here")
    return None


def _comparison(node: ast.expr) -> Measured | None:
    match node:
        case ast.Compare(left, [order], [ast.Constant(int() | float() as number)]) if not isinstance(number, bool):
            pass
        case _:
            return None
    strict = isinstance(order, ast.Lt)
    match ast.unparse(left), order:
        case "duration_ms", ast.Lt() | ast.LtE() if number >= 1:
            return Measured("duration_s", (number - strict) / 1000)
        case "len(tool_calls)", ast.Lt() | ast.LtE() if isinstance(number, int) and number >= strict:
            return Measured("tool_calls", number - strict)
        case ("len(tool_calls)", ast.Gt()) if number == 0:
            return Measured("")
        case ("len(tool_calls)", ast.GtE()) if number == 1:
            return Measured("")
    return None
