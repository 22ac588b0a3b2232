"""Stands in for the company's gateway: lends tokens by OAuth, and answers questions for a token.

`python3 gateway.py` takes any free port of 127.0.0.1 and prints it when it is ready. The first token is withdrawn after
two questions, long before it expires. `GET /seen` counts tokens and questions.
"""

import base64
import json
import os
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

CLIENT = f"skillgauge:{os.environ['ACME_CLIENT_SECRET']}"
TURN = threading.Lock()
LEFT = {}
"""Questions for which each token is good."""
SEEN = {"tokens": 0, "questions": 0, "refused": 0}


class Gateway(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Count."""
        self.answer(200, SEEN)

    def do_POST(self):
        """Lend a token, or answer a question."""
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        said = self.headers["authorization"] or ""
        if self.path == "/oauth/token":
            self.lend(said.removeprefix("Basic "), parse_qs(body))
            return
        token = said.removeprefix("Bearer ")
        with TURN:
            known = LEFT.get(token, 0) > 0
            LEFT[token] = LEFT.get(token, 0) - 1
            SEEN["questions" if known else "refused"] += 1
        if known:
            instructions, *_, question = (message["content"] for message in json.loads(body)["messages"])
            self.grade(instructions, question)
        else:
            self.answer(401, {"error": {"message": f"token {token} is not good"}})

    def lend(self, said, form):
        """A token for who knows the secret."""
        try:
            known = base64.b64decode(said).decode() == CLIENT and form["grant_type"] == ["client_credentials"]
        except (KeyError, ValueError):
            known = False
        if not known:
            self.answer(401, {"error": "invalid_client"})
            return
        with TURN:
            SEEN["tokens"] += 1
            token = f"made-up-access-token-of-acme-{SEEN['tokens']}"
            LEFT[token] = 2 if SEEN["tokens"] == 1 else 1000
        self.answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def grade(self, instructions, question):
        """An answer that tells more than it should: tokens stand in it."""
        if "overloaded" in question:
            self.answer(529, {"error": {"message": f"try again, {sorted(LEFT)}"}})
            return
        if "slow" in question:
            time.sleep(10)
        passes = "at nine" in question
        marker = re.search(r"END <name> (\w+)\.", instructions)
        told = {"marker": marker and marker[1], "score": 9 if passes else 1}
        told["reason"] = f"as {', '.join(sorted(LEFT))} found"
        usage = {} if "silent" in question else {"usage": {"prompt_tokens": 40, "completion_tokens": 9}}
        choice = {"message": {"content": json.dumps(told)}, "finish_reason": "stop"}
        self.answer(200, {"model": "acme-large", "choices": [choice], **usage})

    def answer(self, status, document):
        """Send it."""
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code="-", size="-"):
        """Say nothing."""


with ThreadingHTTPServer(("127.0.0.1", 0), Gateway) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
