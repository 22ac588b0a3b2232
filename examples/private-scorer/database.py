"""Stands in for the database: a service on 127.0.0.1 that wants a password and knows forbidden words.

`python3 database.py PORT_FILE` takes any free port and writes it into the file when it is ready.
"""

import os
import socketserver
import sys
from pathlib import Path

FORBIDDEN = {"harbour": "login,blacklist"}


class Session(socketserver.StreamRequestHandler):
    """One connection: LOGIN first, then FORBIDDEN as often as one likes."""

    def handle(self):
        """Answer line by line."""
        known = False
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            if verb == "LOGIN":
                known = rest == os.environ["ACME_DB_PASSWORD"]
                answer = "OK" if known else "NO"
            else:
                answer = FORBIDDEN.get(rest, "") if known else "NO"
            self.wfile.write(f"{answer}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    """Many connections at once; none keeps it from ending."""

    daemon_threads = True


with Server(("127.0.0.1", 0), Session) as server:
    Path(sys.argv[1]).write_text(str(server.server_address[1]))
    server.serve_forever()
