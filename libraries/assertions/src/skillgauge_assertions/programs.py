"""Assertions that are code: run by Python or Node after the session, as any other command of a suite."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

from skillgauge.api import FileSpec, FrozenDict, digest, thaw
from skillgauge_skill_folders import bundled_files

from .reading import FILE, Node, Reading
from .rules import PROGRAMS, Given, Made, RefusalError
from .templates import Vars

FOLDER = "assertion-programs"
"""Where in the workspace the code is put, when the session is over: each program in a folder of its own, which is
called after its content, so that programs of several cases can lie in the same folder."""
_DIGITS = 12
PYTHON = """import importlib.util, json, math, os, pathlib, sys
sys.path.insert(0, ".")
output = {output}
context = json.loads({context!r})
{define}
found = get_assert(output, context)
if isinstance(found, dict):
    passed, score = found.get("pass", found.get("pass_")), found.get("score")
    reason = str(found.get("reason", ""))
elif isinstance(found, bool):
    passed, score, reason = found, None, ""
else:
    passed, score, reason = None, found, ""
{ending}"""
PYTHON_END = """score = float(score) if score is not None else float(bool(passed))
if math.isnan(score) or not 0 <= score <= 1:
    sys.exit("the score of the assertion is not between 0 and 1: " + str(score))
threshold = {threshold!r}
good = (passed is not False) and (score >= threshold if threshold is not None else passed or score > 0)
good = good is not {negated!r} if {negated!r} else good
print(json.dumps({{"score": 1.0 if good else 0.0, "details": reason}}))
"""
NODE = """import {{ readFileSync }} from "node:fs";
const output = {output};
const context = JSON.parse({context});
{define}
const found = await getAssert(output, context);
let passed, score, reason = "";
if (found !== null && typeof found === "object") {{
  passed = found.pass; score = found.score; reason = String(found.reason ?? "");
}} else if (typeof found === "boolean") {{ passed = found; }} else {{ score = found; }}
score = score === undefined ? (passed ? 1 : 0) : Number(score);
if (!(score >= 0 && score <= 1)) {{ throw new Error("the score of the assertion is not between 0 and 1: " + score); }}
const threshold = {threshold};
let good = passed !== false && (threshold !== null ? score >= threshold : passed === true || score > 0);
if ({negated}) {{ good = !good; }}
console.log(JSON.stringify({{ score: good ? 1 : 0, details: reason }}));
"""
# An agent's answer is in a file, as a whole; that of a direct call is in a variable, and its folder is its own.
PYTHON_OUTPUT = ('pathlib.Path("response.txt").read_text(encoding="utf-8")', 'os.environ["RESPONSE_TEXT"]')
NODE_OUTPUT = ('readFileSync("response.txt", "utf8")', "process.env.RESPONSE_TEXT")
_ENDINGS = {"python": (".py",), "javascript": (".js", ".mjs", ".cjs")}


def program(
    reading: Reading, node: Node, assertion: Given, values: Vars, prompt: str, number: int
) -> tuple[Made, tuple[FileSpec, ...]]:
    """The check that runs the code of an assertion, and the files that it needs.

    Raises:
        RefusalError: it names no code.
    """
    code = assertion.value
    if not isinstance(code, str) or not code.strip():
        raise RefusalError(f"{assertion.type} needs code as `value`")
    context = json.dumps({"vars": thaw(dict(values)), "prompt": prompt}, ensure_ascii=True, sort_keys=True)
    is_python = assertion.type == "python"
    files: tuple[FileSpec, ...] = ()
    if code.startswith(FILE):
        place, _, name = code.removeprefix(FILE).partition(":")
        path = reading.path(node, place)
        if not place.endswith(_ENDINGS[assertion.type]):
            raise RefusalError(
                f"{place!r} is no code of {assertion.type}", f"It ends with {_ENDINGS[assertion.type][0]}."
            )
        plain = PurePosixPath(place).as_posix()
        files = bundled_files(reading.root, [f"x {plain}"]) if path is not None else ()
        define = _python_import(plain, name) if is_python else _node_import(plain, name)
    else:
        define = _python_inline(code) if is_python else _node_inline(code)
    # A variable that is the prompt itself is one that writing a suite adds, and decides nothing.
    own = {name: value for name, value in values.items() if value != prompt}
    code_ = (assertion.type, define, assertion.threshold, assertion.negated, assertion.direct)
    folder = f"{FOLDER}/{digest(*code_, prompt, FrozenDict(own))[:_DIGITS]}"
    if is_python:
        ending = PYTHON_END.format(threshold=assertion.threshold, negated=assertion.negated)
        text = PYTHON.format(output=PYTHON_OUTPUT[assertion.direct], context=context, define=define, ending=ending)
        path_ = f"{folder}/check.py"
    else:
        text = NODE.format(
            output=NODE_OUTPUT[assertion.direct],
            context=json.dumps(context),
            define=define,
            threshold=json.dumps(assertion.threshold),
            negated=json.dumps(assertion.negated),
        )
        path_ = f"{folder}/check.mjs"
    options = {
        "command": f"{PROGRAMS[assertion.type]} {path_}",
        "reads": "score",
        "label": f"{assertion.type} {number}",
    }
    return ("command", options), (*files, FileSpec(path=path_, text=text))


def _python_inline(code: str) -> str:
    lines = code.strip("\n").rstrip().splitlines()
    if len(lines) == 1:
        return f"def get_assert(output, context):\n    return ({code.strip()})"
    return "def get_assert(output, context):\n" + "\n".join(f"    {line}" for line in lines)


def _python_import(place: str, name: str) -> str:
    return (
        f"spec = importlib.util.spec_from_file_location('assertion_program', {place!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        f"get_assert = getattr(module, {name or 'get_assert'!r})"
    )


def _node_inline(code: str) -> str:
    body = code.strip() if "\n" in code.strip() else f"return ({code.strip().rstrip(';')});"
    return f"const getAssert = async (output, context) => {{\n{body}\n}};"


def _node_import(place: str, name: str) -> str:
    member = json.dumps(name) if name else '"default"'
    return (
        f'const loaded = await import("../../" + {json.dumps(place)});\n'
        f"const getAssert = loaded[{member}] ?? loaded.default?.[{member}] ?? loaded.default;"
    )
