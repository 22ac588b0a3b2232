"""Stands in for the cloud: workspaces that are folders, with real processes, behind its API on 127.0.0.1.

`python3 service.py` takes any free port and prints it when it is ready. It confines nothing, and says so (`GET about`).
`GET workspaces` lists those that are there.
"""

import asyncio
import base64
import io
import itertools
import json
import os
import tarfile
import tempfile
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from skillgauge.api import Command, FileSpec, LaunchError, SandboxSpec, SpoiledError, host_environment
from skillgauge_processes import DirectoryWorkspace

TOKEN = os.environ["ACME_CLOUD_TOKEN"]
NUMBERS = itertools.count(1)
WORKSPACES = {}


@dataclass
class Held:
    """A workspace, its processes, and until when somebody needs it."""

    workspace: DirectoryWorkspace
    lease_s: float
    processes: dict = field(default_factory=dict)
    lines: dict = field(default_factory=dict)
    until: float = 0.0


async def answer(method, path, body):
    """What a request gets: JSON, or nothing."""
    match method, path.strip("/").split("/"):
        case "GET", ["about"]:
            return {"apart": "folder"}
        case "GET", ["workspaces"]:
            return sorted(WORKSPACES)
        case "POST", ["workspaces"]:
            return await made(body)
        case _, ["workspaces", name, *rest] if name in WORKSPACES:
            held = WORKSPACES[name]
            held.until = time.monotonic() + held.lease_s
            return await (removed(name) if (method, rest) == ("DELETE", []) else asked(held, method, rest, body))
    raise LookupError(path)


async def made(body):
    """A workspace."""
    spec = SandboxSpec(label="cloud", env=body["env"], keep=body["keep"])
    held = Held(DirectoryWorkspace(spec, host_environment(), tier="cloud/none"), body["lease_s"])
    held.until = time.monotonic() + held.lease_s
    await held.workspace.__aenter__()
    name = str(next(NUMBERS))
    WORKSPACES[name] = held
    return {"id": name, "root": str(held.workspace.root), "home": str(held.workspace.home)}


async def removed(name):
    """Take a workspace away."""
    await WORKSPACES.pop(name).workspace.__aexit__(None, None, None)


async def asked(held, method, rest, body):
    """A request about one workspace."""
    match method, rest:
        case "POST", ["lease"]:
            return None
        case "POST", ["given"]:
            place = held.workspace.folder / "given" / str(next(NUMBERS))
            with tarfile.open(fileobj=io.BytesIO(base64.b64decode(body["archive"]))) as archive:
                if hasattr(tarfile, "data_filter"):  # Python has it since 3.11.4
                    archive.extraction_filter = tarfile.data_filter
                archive.extractall(place)
            return {"folder": str(place / "given")}
        case "POST", ["files"]:
            with tempfile.TemporaryDirectory() as name:
                files = [spec(Path(name, str(number)), one) for number, one in enumerate(body["files"])]
                return {"aside": list(await held.workspace.put(files, anew=body["anew"]))}
        case "GET", ["files"]:
            return dict(await held.workspace.snapshot())
        case "POST", ["read"]:
            return {"content": packed(await held.workspace.collect(body["path"], body["limit"]))}
        case "POST", ["processes"]:
            number = str(next(NUMBERS))
            command = Command.model_validate({**body, "stdin": base64.b64decode(body["stdin"])})
            held.processes[number] = await held.workspace.start(command)
            return {"id": number}
        case _, ["processes", number, verb]:
            return await of_process(held, held.processes[number], number, verb, body)
    raise LookupError(rest)


async def of_process(held, process, number, verb, body):
    """A request about one process."""
    if verb in ("end", "stop"):
        finished = await (process.wait() if verb == "end" else process.stop())
        return {**asdict(finished), "stdout": packed(finished.stdout), "stderr": packed(finished.stderr)}
    if verb == "input":
        try:
            return await process.write(base64.b64decode(body["data"]))
        except BrokenPipeError:
            return {"message": "it no longer reads"}
    line = await anext(held.lines.setdefault(number, process.lines()), None)
    return None if line is None else {"line": packed(line)}


def spec(place, told):
    """A file that came with a request."""
    place.write_bytes(base64.b64decode(told["content"]))
    return FileSpec(path=told["path"], source=str(place), executable=told["executable"])


def packed(content):
    """Bytes, as they stand in JSON."""
    return base64.b64encode(content).decode()


async def sweep():
    """Remove what nobody has spoken of for as long as its lease."""
    while True:
        await asyncio.sleep(0.2)
        for name in [name for name, held in WORKSPACES.items() if held.until < time.monotonic()]:
            await removed(name)


class Handler(BaseHTTPRequestHandler):
    """One connection; the work is done by the event loop."""

    protocol_version = "HTTP/1.1"
    loop = asyncio.new_event_loop()

    def handle_any(self):
        """Answer."""
        content = self.rfile.read(int(self.headers["content-length"] or 0))
        if self.headers["authorization"] != f"Bearer {TOKEN}":
            self.send(401, None)
            return
        try:
            body = json.loads(content) if content else None
            told = asyncio.run_coroutine_threadsafe(answer(self.command, self.path, body), self.loop).result()
        except (LaunchError, SpoiledError, ValueError, OSError) as error:
            kinds = ((LaunchError, "launch"), (SpoiledError, "spoiled"), (ValueError, "value"), (OSError, "os"))
            kind = next(name for one, name in kinds if isinstance(error, one))
            self.send(422, {"kind": kind, "message": str(error)})
        except (LookupError, CancelledError) as error:
            self.send(404, {"message": str(error)})
        else:
            self.send(204 if told is None else 200, told)

    do_GET = do_POST = do_DELETE = handle_any  # noqa: N815 - their names

    def send(self, status, document):
        """Send it; a client that is gone does not mind."""
        content = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code="-", size="-"):
        """Say nothing."""

    def log_error(self, *_args):
        """Neither of those who hang up."""


class Server(ThreadingHTTPServer):
    """Many connections at once; none keeps it from ending."""

    daemon_threads = True
    request_queue_size = 100

    def handle_error(self, request, client_address):
        """Who hung up while it waited for a process."""


asyncio.set_event_loop(Handler.loop)
threading.Thread(target=Handler.loop.run_forever, daemon=True).start()
asyncio.run_coroutine_threadsafe(sweep(), Handler.loop)
with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
