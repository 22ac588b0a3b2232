"""The calculator as a service: `POST /invoke` with `{"input": {...}}` is answered with `{"result": "..."}`."""

import argparse
import json
import signal
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from calculator import answer

MAX_BODY = 1_000_000
"""Bytes of the largest request that is read."""


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection, which stays open between them."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # head and body leave in one piece; in two, the second could wait for the first to be acknowledged

    def do_POST(self):
        """A call of the skill."""
        if self.path != "/invoke":
            return self.refuse(HTTPStatus.NOT_FOUND, "call POST /invoke")
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            return self.refuse(HTTPStatus.LENGTH_REQUIRED, "Content-Length is missing")
        if int(length) > MAX_BODY:
            return self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MAX_BODY} bytes are read")
        try:
            request = json.loads(self.rfile.read(int(length)))
            params = request["input"]
        except (ValueError, RecursionError, TypeError, LookupError):
            params = None
        if not isinstance(params, dict):
            return self.refuse(HTTPStatus.BAD_REQUEST, "the body must be a JSON object with an object under 'input'")
        return self.reply(HTTPStatus.OK, {"result": answer(params)})

    def do_GET(self):
        """A question whether the service is there."""
        if self.path != "/invoke":
            return self.refuse(HTTPStatus.NOT_FOUND, "call POST /invoke")
        return self.reply(HTTPStatus.OK, {"status": "healthy"})

    def refuse(self, status, message):
        """Say what is wrong and end the connection, since the rest of the request may be unread."""
        self.close_connection = True
        self.reply(status, {"error": message})

    def reply(self, status, value):
        """Send a JSON document."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *values):  # noqa: A002 - the library's name
        """Requests are not worth a line each."""


class Service(ThreadingHTTPServer):
    """The server, which ends without a word also while connections are being taken."""

    is_ending = False

    def end(self, _signal, _frame):
        """End the process: what the signals SIGTERM and SIGINT do."""
        self.is_ending = True
        sys.exit(0)

    def handle_error(self, request, client_address):
        """Tell of a connection that broke, unless this end broke it."""
        if not self.is_ending:
            super().handle_error(request, client_address)


def main():
    """Serve until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", nargs="?", type=int, default=8765, help="0: any that is free; default: 8765")
    port = parser.parse_args().port
    try:
        server = Service(("127.0.0.1", port), Handler)
    except (OSError, OverflowError) as error:
        sys.exit(f"cannot listen on port {port}: {error}")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.end)
    with server:
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
