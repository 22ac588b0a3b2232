"""Graders that are programs: run after the session, with what agentv tells them on stdin."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import FileSpec, JsonObject, JsonValue, digest, thaw
from skillgauge_assertions import Node, RefusalError
from skillgauge_skill_folders import file_spec, files_of

from .graders import Around, Part

FOLDER = "agentv-graders"
"""Where in the workspace graders and their files are put, when the session is over."""
_FILES = f"{FOLDER}/files/"
_DIGITS = 12
"""Of the name of a grader's folder, which tells what it does, so that those of several tests lie beside each other."""
_READ_APART = ("config", "provider", "target")
_KEYS = (
    "type",
    "metric",
    "name",
    "id",
    "weight",
    "required",
    "min_score",
    "negate",
    "command",
    "script",
    "cwd",
    *_READ_APART,
)
_NOISE = ("__pycache__", "node_modules", ".git")
_RUNNER = """import json, os, subprocess, sys
spec = json.loads({spec!r})
answer = open("response.txt", encoding="utf-8").read()
payload = dict(spec["payload"], output=answer, workspace_path=os.getcwd())
environment = dict(os.environ, AGENTV_WORKSPACE_PATH=os.getcwd())
shell = isinstance(spec["command"], str)
said_to_it = json.dumps(payload)
ran = subprocess.run(spec["command"], shell=shell, input=said_to_it, env=environment, capture_output=True, text=True)
said = ran.stdout.strip()
if ran.returncode and (ran.stderr.strip() or said[:1] in ("{{", "[")):
    sys.exit("the grader ended with code " + str(ran.returncode) + ": " + ran.stderr.strip()[-2000:])
try:
    found = json.loads(said)
except ValueError:
    found = None
reason = said
if isinstance(found, dict):
    checks = [one for one in found.get("checks") or () if isinstance(one, dict) and isinstance(one.get("pass"), bool)]
    if isinstance(found.get("score"), (int, float)):
        score = float(found["score"])
    elif checks:
        score = sum(float(one.get("score", one["pass"])) for one in checks) / len(checks)
    elif isinstance(found.get("pass"), bool):
        score = float(found["pass"])
    else:
        sys.exit("the grader printed an object without `pass`, `score` or `checks`")
    failed = [str(one.get("text", "")) + ": " + str(one.get("reason", "")) for one in checks if not one["pass"]]
    reason = str(found.get("reason") or "; ".join(failed))
else:
    score = 0.0 if ran.returncode else 1.0
score = min(1.0, max(0.0, score))
print(json.dumps({{"score": 1 - score if spec["negated"] else score, "details": reason}}))
"""


def script(node: Node, around: Around, *, negated: bool) -> tuple[Part, tuple[FileSpec, ...]]:
    """The check that runs a grader, and the files that it needs.

    Raises:
        RefusalError: it names no command, or one that asks a model.
    """
    if not isinstance(node.value, Mapping):
        raise RefusalError("a grader is an object")
    if node.at("provider").value not in (None, False):
        raise RefusalError("a grader that asks a model itself is not supported", "Write an llm-rubric.")
    written = around.reading.first(node, "command", "script")
    start = str(node.at("cwd").value or ".")
    files: dict[str, FileSpec] = {}
    words = [_placed(around, start, word, files) for word in _words(written.value)]
    command = shlex.join(words) if isinstance(written.value, str) else words
    payload = _payload(node, around)
    spec = json.dumps({"command": command, "payload": payload, "negated": negated}, sort_keys=True)
    path = f"{FOLDER}/{digest(spec)[:_DIGITS]}/grader.py"
    files[path] = FileSpec(path=path, text=_RUNNER.format(spec=spec))
    least = node.at("min_score").value
    options: JsonObject = {
        "command": f"python3 {path}",
        "reads": "score",
        "threshold": float(least) if isinstance(least, int | float) else around.threshold,
        "label": " ".join(words).replace(_FILES, ""),
    }
    return Part("", "command", options, is_binary=False), tuple(files.values())


def _words(command: JsonValue) -> list[str]:
    """The words of a command: a line for a shell, or a list."""
    if isinstance(command, str) and command:
        return _words_of_line(command)
    words = command if isinstance(command, tuple) else ()
    if not words or not all(isinstance(word, str) and word for word in words):
        raise RefusalError("a script needs a `command`: a text, or a list of words")
    return [str(word) for word in words]


def _words_of_line(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise RefusalError(f"this command is no line for a shell: {str(error).lower()}") from None


def _payload(node: Node, around: Around) -> dict[str, object]:
    """The object that agentv gives to a grader on stdin, but for what is known only after the session."""
    config = node.at("config").value
    settings = {key: thaw(node.at(key).value) for key in node.names() if key not in _KEYS}
    if isinstance(config, Mapping):
        settings |= thaw(config)
    return {
        "criteria": around.criteria,
        "expected_output": _messages("assistant", around.reference),
        "input": _messages("user", around.prompt),
        "messages": [],
        "input_files": [],
        "metadata": None,
        "trace": None,
        "config": settings or None,
    }


def _messages(role: str, value: JsonValue) -> list[dict[str, object]]:
    return [] if value in (None, "") else [{"role": role, "content": thaw(value)}]


def _placed(around: Around, start: str, word: str, files: dict[str, FileSpec]) -> str:
    """A word of a command; where it names a file of the repository, the place of its copy, and what lies beside it."""
    found = next((one for one in _named(around, start, word) if one.is_file()), None)
    if found is None:
        return word
    reading = around.reading
    folder, here = found.parent, reading.root.resolve()
    alone = here.is_relative_to(folder)
    for inner in [found.name] if alone else files_of(folder):
        if not set(Path(inner).parts) & set(_NOISE):
            path = folder / inner
            place = _place(path, around)
            files[place] = file_spec(path, place)
    return _place(found, around)


def _place(path: Path, around: Around) -> str:
    """Return the place of a file; one that was put there before, and written, keeps its place."""
    inner = path.relative_to(around.reading.repository.resolve()).as_posix()
    return f"{_FILES}{inner.rpartition(_FILES)[2]}"


def command_of(part: Part, files: Mapping[str, FileSpec]) -> JsonValue:
    """The command of a grader, with its files in the places of their copies."""
    runner = files[str(part.options["command"]).removeprefix("python3 ")]
    line = next(one for one in (runner.text or "").splitlines() if one.startswith("spec = "))
    command = json.loads(ast.literal_eval(line.removeprefix("spec = json.loads(").removesuffix(")")))["command"]
    return command if isinstance(command, str) else tuple(command)


def _named(around: Around, start: str, word: str) -> Iterator[Path]:
    if "/" not in word and "." not in word:
        return
    for base in dict.fromkeys((start, ".")):
        path = around.reading.place(f"{base}/{word}")
        if path is not None:
            yield path
