"""The skill as a service: it listens where `entrypoint` in skill.json says, and answers JSON with JSON.

`invoke` is what the skill does; the rest is HTTP. A request is a POST of `{"skillId", "version", "input"}`; a GET asks
whether the service is healthy.
"""

import json
import logging
import sys
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ENTRYPOINT: str = json.loads(Path(__file__).with_name("skill.json").read_text("utf-8"))["entrypoint"]
ADDRESS = urlsplit(ENTRYPOINT)
MAX_BODY_BYTES = 1024 * 1024


class InputError(ValueError):
    """The input cannot be used; the text says why, and the caller gets to read it."""


def invoke(inputs: dict[str, Any]) -> dict[str, Any]:
    """Answer one request; several may be under way at once, each in a thread of its own.

    Args:
        inputs: the input, as `inputSchema` in skill.json describes it.

    Returns:
        The output, as `outputSchema` describes it.

    Raises:
        InputError: the input cannot be used.
    """
    query = inputs.get("query")
    if not isinstance(query, str):
        raise InputError("'query' must be a text")
    return {"result": f"You asked: {query}"}


class RequestError(Exception):
    """The request is none that the service answers; the status and the text tell the caller."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, which is kept between them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # on a kept connection each answer would otherwise wait for an acknowledgement
    timeout = 60
    """Seconds after which a silent connection is closed."""

    def do_GET(self) -> None:
        """Say that the service is there."""
        self.say(HTTPStatus.OK, {"status": "healthy"})

    def do_POST(self) -> None:
        """Answer a request of the skill."""
        try:
            self.say(HTTPStatus.OK, invoke(self.inputs()))
        except RequestError as error:
            self.close_connection = True  # its body may not have been read
            self.say(error.status, {"error": str(error)})
        except InputError as error:
            self.say(HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)})
        except Exception as error:
            logging.exception("the skill failed")
            self.say(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": f"{type(error).__name__}: {error}"})

    def inputs(self) -> dict[str, Any]:
        """The input that the request holds.

        Raises:
            RequestError: it holds none.
        """
        if urlsplit(self.path).path != ADDRESS.path:
            raise RequestError(HTTPStatus.NOT_FOUND, f"there is nothing at {self.path}; the skill is at {ADDRESS.path}")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise RequestError(HTTPStatus.LENGTH_REQUIRED, "the header Content-Length is missing")
        if int(length) > MAX_BODY_BYTES:
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {MAX_BODY_BYTES} bytes")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise RequestError(HTTPStatus.BAD_REQUEST, "the body is not JSON") from None
        inputs = request.get("input") if isinstance(request, dict) else None
        if not isinstance(inputs, dict):
            raise RequestError(HTTPStatus.BAD_REQUEST, "the body must be an object with an object 'input'")
        return inputs

    def say(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        """Answer with a JSON document."""
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


class Service(ThreadingHTTPServer):
    """Accepts connections."""

    request_queue_size = 128


def main() -> None:
    """Serve until interrupted."""
    try:
        service = Service((ADDRESS.hostname or "", ADDRESS.port or 80), Handler)
    except OSError as error:
        sys.exit(f"cannot listen at {ENTRYPOINT} ({error.strerror}); another port can be set there, in skill.json")
    with service:
        sys.stdout.write(f"listening at {ENTRYPOINT}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            service.serve_forever()


if __name__ == "__main__":
    main()
