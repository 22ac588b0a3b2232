"""From the program that runs the code of an assertion back to that assertion, wherever its suite came from."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skillgauge.api import FileSpec, JsonObject

from .programs import FOLDER, NODE, NODE_OUTPUT, PYTHON, PYTHON_END, PYTHON_OUTPUT
from .reading import FILE
from .rules import PROGRAMS

_MARK = "\x00{}\x00"
_GET_ASSERT = "get_assert"
_PYTHON_INLINE = re.compile(r"def get_assert\(output, context\):\n(?P<body>.*)", re.DOTALL)
_NODE_INLINE = re.compile(r"const getAssert = async \(output, context\) => \{\n(?P<body>.*)\n\};", re.DOTALL)
_PYTHON_IMPORT = re.compile(
    r".*'assertion_program', (?P<place>.+)\)\n.*\n.*\nget_assert = getattr\(module, (?P<name>.+)\)"
)
_NODE_IMPORT = re.compile(
    r'const loaded = await import\("\.\./\.\./" \+ (?P<place>".+")\);\n.*loaded\[(?P<name>".*?")\].*'
)
_ONE_VALUE = re.compile(r"return \((?P<code>.*)\);?", re.DOTALL)


def program_assertion(options: JsonObject, files: Iterable[FileSpec]) -> tuple[dict[str, Any], FileSpec] | None:
    """Return the assertion that a check by the scorer `command` was made of, and its program; `None` if of none.

    Args:
        options: those of the check.
        files: what graders are given, the program among them.
    """
    words = shlex.split(str(options.get("command", "")))
    if len(words) != 2 or not words[1].startswith(f"{FOLDER}/"):
        return None
    kind = next((kind for kind, program in PROGRAMS.items() if program == words[0]), None)
    file = next((file for file in files if file.path == words[1]), None)
    if kind is None or file is None:
        return None
    match = _TEMPLATES[kind].fullmatch(_text(file))
    code = _code(kind, match["define"]) if match is not None else ""
    if match is None or not code:
        return None
    is_negated = match["negated"].lower() == "true"
    threshold = None if match["threshold"] in ("None", "null") else float(match["threshold"])
    assertion: dict[str, Any] = {"type": f"{'not-' if is_negated else ''}{kind}", "value": code}
    return assertion | ({} if threshold is None else {"threshold": threshold}), file


def _text(file: FileSpec) -> str:
    return Path(file.source).read_text(encoding="utf-8") if file.source is not None else file.text or ""


def _code(kind: str, define: str) -> str:
    """Return the value of an assertion by the definition of its function."""
    is_python = kind == "python"
    if found := (_PYTHON_IMPORT if is_python else _NODE_IMPORT).fullmatch(define):
        read = ast.literal_eval if is_python else json.loads
        place, name = read(found["place"]), read(found["name"])
        return f"{FILE}{place}" + ("" if name in (_GET_ASSERT, "default") else f":{name}")
    inline = (_PYTHON_INLINE if is_python else _NODE_INLINE).fullmatch(define)
    if inline is None:
        return ""
    lines = [line.removeprefix("    ") for line in inline["body"].split("\n")] if is_python else [inline["body"]]
    body = "\n".join(lines)
    one = _ONE_VALUE.fullmatch(body) if "\n" not in body else None
    return one["code"] if one is not None else body


def _pattern(template: str, outputs: Iterable[str], quoted: Mapping[str, str], **plain: str) -> re.Pattern[str]:
    """Return the pattern of a program: its template, where each part that differs is a group."""
    pattern = re.escape(template.format(**quoted, **plain))
    pattern = pattern.replace(re.escape(quoted["output"]), f"(?:{'|'.join(map(re.escape, outputs))})", 1)
    for name in ("context", "define", "threshold", "negated"):
        mark = re.escape(_MARK.format(name))
        written = next(one for one in (re.escape(repr(_MARK.format(name))), mark) if one in pattern)
        pattern = pattern.replace(written, f"(?P<{name}>.*?)", 1).replace(written, f"(?P={name})")
    return re.compile(pattern, re.DOTALL)


_NAMES = ("output", "context", "define")
_MARKS = {name: _MARK.format(name) for name in _NAMES}
_END = PYTHON_END.format(threshold=_MARK.format("threshold"), negated=_MARK.format("negated"))
_TEMPLATES: Mapping[str, re.Pattern[str]] = {
    "python": _pattern(PYTHON, PYTHON_OUTPUT, _MARKS, ending=_END),
    "javascript": _pattern(
        NODE, NODE_OUTPUT, _MARKS, threshold=_MARK.format("threshold"), negated=_MARK.format("negated")
    ),
}
