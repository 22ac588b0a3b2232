"""The skill as a program: JSON-RPC 2.0 requests on stdin, one on a line, and on stdout a line with the answer to each.

`invoke` is what the skill does. The rest is the protocol; it serves a process that is started for one request as well
as one that is kept for many. Whatever a person should see (logs, warnings) belongs on stderr.
"""

import json
import logging
import sys
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
SKILL_FAILED = -32000


class InputError(ValueError):
    """The input cannot be used; the text says why, and the caller gets to read it."""


def invoke(params: dict[str, Any]) -> dict[str, Any]:
    """Answer one request.

    Args:
        params: the input, as `inputSchema` in skill.json describes it.

    Returns:
        The output, as `outputSchema` describes it.

    Raises:
        InputError: the input cannot be used.
    """
    query = params.get("query")
    if not isinstance(query, str):
        raise InputError("'query' must be a text")
    return {"result": f"You asked: {query}"}


def answer(line: bytes) -> dict[str, Any]:
    """The JSON-RPC answer to a line of input."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return failure(None, PARSE_ERROR, "the line is not JSON")
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        return failure(None, INVALID_REQUEST, "not a request of JSON-RPC 2.0")
    number, method, params = request.get("id"), request.get("method"), request.get("params", {})
    if method == "healthcheck":
        return success(number, {"status": "healthy"})
    if method != "invoke":
        return failure(number, METHOD_NOT_FOUND, f"there is no method {method!r}")
    if not isinstance(params, dict):
        return failure(number, INVALID_PARAMS, "'params' must be an object")
    try:
        return success(number, invoke(params))
    except InputError as error:
        return failure(number, INVALID_PARAMS, str(error))
    except Exception as error:
        logging.exception("the skill failed")
        return failure(number, SKILL_FAILED, f"{type(error).__name__}: {error}")


def success(number: object, result: dict[str, Any]) -> dict[str, Any]:
    """An answer with a result."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failure(number: object, code: int, message: str) -> dict[str, Any]:
    """An answer that says what went wrong."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def main() -> None:
    """Answer until stdin ends."""
    for line in sys.stdin.buffer:
        if line.strip():
            sys.stdout.write(json.dumps(answer(line)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
