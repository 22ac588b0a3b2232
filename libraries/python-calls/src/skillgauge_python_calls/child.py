"""Runs in the child process: loads the user's object once, and calls it until there are no more questions.

It is given to the interpreter as text. That may be an older one than ours, and one without skillgauge, so nothing here
needs more than the standard library of Python 3.9.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

TEXT_CHARS = 1000
TRACE_CHARS = 2000
_FRAMES = 12
_OURS = "<skillgauge>"
"""File name of this code in tracebacks."""

Call = Callable[[Any], "dict[str, Any]"]
"""Calls the user's object with an input; gives `result`, and if there are any `usage` and `notes`."""


class Stream:
    """Lines from and to whoever asks, on descriptors of our own: what the user's code prints goes to stderr."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._questions = open(os.dup(0), "rb")  # noqa: PTH123, SIM115 - it is open as long as the process lives
        self._answers = os.dup(1)
        self._marks = os.dup(2)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def next(self) -> Any:
        """The next question; `None` when there are no more, or nobody is left to ask them."""
        line = self._questions.readline()
        return json.loads(line) if line else None

    def mark(self, number: int) -> None:
        """Note on stderr where the words of a call begin."""
        os.write(self._marks, b"\n\x1e%d\x1e" % number)

    def send(self, number: int, reply: dict[str, Any]) -> None:
        """Answer a question; `result`, if there is one, is JSON already."""
        if os.getpid() != self._process:
            os._exit(0)  # a fork that the user's code let run on: the other one answers
        result = reply.pop("result", None)
        line = json.dumps({"id": number, **reply}).encode()
        if result is not None:
            line = line[:-1] + b', "result": ' + result + b"}"
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self._answers, rest) :]


class Waiting:
    """Waits for what is awaitable, always on the same event loop, since connections of the user's code may need it."""

    def __init__(self) -> None:
        self._loop: Any = None

    def __call__(self, value: Any) -> Any:
        """The value itself, or what awaiting it gives."""
        if not hasattr(value, "__await__"):
            return value
        import asyncio  # noqa: PLC0415 - most skills do without

        async def awaited() -> Any:
            return await value

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(awaited())


def find(order: dict[str, Any], folder: str) -> Any:
    """The object that an order names. What its module raises is let through."""
    sys.path.insert(0, folder)
    module, file = order["module"], order["file"]
    if file is None and os.path.isfile(module + ".py"):  # noqa: PTH113 - pathlib would be one more import
        file = module + ".py"  # also if this process has imported a module of that name already
    value: Any = importlib.import_module(module) if file is None else _module_of(folder, file)
    for part in order["name"].split("."):
        value = getattr(value, part)
    return value


def _module_of(folder: str, file: str) -> types.ModuleType:
    path = os.path.abspath(os.path.join(folder, file))  # noqa: PTH100, PTH118 - as above
    place, name = os.path.split(path[: -len(".py")])
    if place != folder:
        sys.path.insert(0, place)
    if name in sys.modules:
        name = "skillgauge_target_" + name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pickle and dataclasses look there
    spec.loader.exec_module(module)
    return module


def load(order: dict[str, Any], folder: str, wait: Waiting) -> Call:
    """Return the callable that an order names."""
    kind = types.ModuleType("skillgauge_kind")
    exec(compile(order["program"], _OURS, "exec"), kind.__dict__)
    call: Call = kind.prepare(find(order, folder), order["settings"], wait)
    return call


def reply_to(call: Call, question: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return the reply to a call, whatever came of it."""
    try:
        os.chdir(folder)
        answer = call(question["input"])
    except BaseException as error:  # noqa: BLE001 - a call must not end the process, not even by SystemExit
        return raised(error)
    result = answer["result"]
    try:
        text = json.dumps(result, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
    except Exception as error:  # noqa: BLE001 - dicts and lists of the user's own may raise anything
        return {"unusable": f"the result of type {type(result).__name__} is no JSON value: {text_of(error)}"}
    if len(text) > question["limit"]:
        return {"unusable": f"the result has {len(text)} bytes as JSON, the limit is {question['limit']}"}
    return {**answer, "result": text}


def raised(error: BaseException) -> dict[str, Any]:
    """An exception in a line, and where it came from in a few more."""
    trace = frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == _OURS:
            trace = frame.tb_next  # how it was called is no news
        frame = frame.tb_next
    lines = traceback.format_exception(type(error), error, trace, limit=-_FRAMES)
    text = text_of(error)
    name = type(error).__name__
    return {"raised": f"{name}: {text}" if text else name, "trace": "".join(lines)[-TRACE_CHARS:]}


def text_of(error: BaseException) -> str:
    """The text of an exception, which may refuse to give it."""
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001 - it is the user's
        return "its text cannot be had"
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 1] + "…"


def main() -> None:  # pragma: no cover - it takes the standard streams away
    """Take the order, then questions, until they end."""
    folder = os.getcwd()  # noqa: PTH109 - pathlib would be one more import
    stream, wait = Stream(), Waiting()
    order = stream.next()
    stream.mark(0)
    try:
        call = load(order, folder, wait)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it has to be told
        stream.send(0, raised(error))
        return
    stream.send(0, {})
    while True:
        question = stream.next()
        if question is None:
            return
        stream.mark(question["id"])
        stream.send(question["id"], reply_to(call, question, folder))


if __name__ == "__main__":  # pragma: no cover - see `main`
    main()
