"""Stands in for the service: files below a folder, by GET, PUT and DELETE with `ETag`s, for those who know the token.

`python3 service.py FOLDER` takes any free port of 127.0.0.1 and prints it when it is ready.
"""

import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

TOKEN = os.environ["ACME_SHELF_TOKEN"]
TURN = threading.Lock()


class Shelf(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    root = Path()

    def do_GET(self):
        """A file, or the names in a folder, whose path ends in a slash."""
        self.answer(self.read)

    def do_PUT(self):
        """Write a file, if it is what the client takes it for."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.answer(self.write, body)

    def do_DELETE(self):
        """Take a file away, if it is what the client takes it for."""
        self.answer(self.remove)

    def answer(self, act, *args):
        """Do it, one request after another."""
        path = Path(os.path.normpath(self.root / unquote(self.path).lstrip("/")))
        with TURN:
            if self.headers["authorization"] != f"Bearer {TOKEN}":
                status, content, tag = 401, b"", ""
            elif not path.is_relative_to(self.root):
                status, content, tag = 400, b"", ""
            else:
                status, content, tag = act(path, *args)
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        if tag:
            self.send_header("etag", tag)
        self.end_headers()
        self.wfile.write(content)

    def read(self, path):
        """Give what is there."""
        if path.is_dir() and self.path.endswith("/"):
            return 200, json.dumps([one.name for one in path.iterdir()]).encode(), ""
        return (200, path.read_bytes(), tag_of(path)) if path.is_file() else (404, b"", "")

    def write(self, path, body):
        """Write the whole file or nothing of it."""
        if not self.fits(path):
            return 412, b"", ""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        part.write_bytes(body)
        part.replace(path)
        return 201, b"", tag_of(path)

    def remove(self, path):
        """Take it away."""
        if not self.fits(path):
            return 412, b"", ""
        path.unlink(missing_ok=True)
        return 204, b"", ""

    def fits(self, path):
        """Whether the conditions hold."""
        wanted = self.headers["if-match"]
        absent = self.headers["if-none-match"] == "*"
        return not (absent and path.exists()) and wanted in (None, tag_of(path))

    def log_request(self, code="-", size="-"):
        """Say nothing."""


def tag_of(path):
    """Names the version of a file."""
    return f'"{hashlib.sha256(path.read_bytes()).hexdigest()[:20]}"' if path.is_file() else None


Shelf.root = Path(sys.argv[1]).resolve()
with ThreadingHTTPServer(("127.0.0.1", 0), Shelf) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
