"""Runs in the child process: calls the user's function and writes one marked line.

It is given to the interpreter as text, so it imports nothing but the standard library, and as little of that as it can.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

KEPT_ENV = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""With what skillgauge itself sets, all that the user's code sees of the environment."""


def clean(environ: Any) -> None:
    """Forget variables that a target may have been given, keys among them."""
    for name in list(environ):
        if name not in KEPT_ENV and not name.startswith("SKILLGAUGE_"):
            del environ[name]


def function_of(path: str) -> Any:
    """The user's function."""
    import importlib.util  # noqa: PLC0415 - what fails here has to be told, too

    if not path.endswith(".py"):
        name, _, function = path.partition(":")
        return getattr(importlib.import_module(name), function)
    sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120 - pathlib would be one more import
    spec = importlib.util.spec_from_file_location("skillgauge_custom_scorer", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look there
    spec.loader.exec_module(module)
    score = getattr(module, "score", None)
    if not callable(score):
        raise TypeError("it has no function `score(output, expected)`")
    return score


def answer(request: Any) -> str:
    """Return the function's result, or its failure, as JSON."""
    try:
        result = function_of(request["path"])(request["output"], request["expected"])
        if hasattr(result, "__await__"):
            result = _awaited(result)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it has to be told
        import traceback  # noqa: PLC0415 - rarely needed

        traceback.print_exc()
        return json.dumps({"error": f"{type(error).__name__}: {error}"})
    try:
        return json.dumps({"result": result}, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"error": f"its result of type {type(result).__name__} is no JSON value: {error}"})


def _awaited(awaitable: Any) -> Any:
    import asyncio  # noqa: PLC0415 - rarely needed

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())


def main() -> None:  # pragma: no cover - it takes stdout away and ends the process
    """Take the request from stdin; let nobody else write to stdout."""
    request = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)
    clean(os.environ)
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not everywhere

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = request["memory_mb"] * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    line = f"\n{request['marker']} {answer(request)}\n".encode()
    while line:
        line = line[os.write(out, line) :]
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)  # whatever threads it left behind


if __name__ == "__main__":  # pragma: no cover - see `main`
    main()
