"""A server that speaks the protocol by hand, so that it starts at once and can also misbehave."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"} if MODE == "modern" else {}
writing = threading.Lock()


def say(message: object) -> None:
    """One message per line."""
    with writing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def text(value: str, **more: object) -> dict[str, object]:
    """A result of one text block."""
    return {"content": [{"type": "text", "text": value}], **more}


def result(asked: dict[str, object]) -> dict[str, object] | None:
    """What the tool answers; `None` for nothing at all."""
    do = asked.get("do")
    if do == "die":
        sys.stderr.write("out of order\n")
        sys.stderr.flush()
        os._exit(3)
    if do == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "deaf":
        os.close(1)
        time.sleep(60)
    if do == "wait":
        time.sleep(asked.get("seconds", 3))
        return text("late")
    if do == "silent":
        return None
    if do == "huge":
        return text("a" * asked["size"])
    if do == "refuse":
        return text("no such pdf", isError=True)
    if do == "text":
        return text(asked["text"])
    if do == "blocks":
        image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        one, two = ({"type": "text", "text": line} for line in asked["lines"])
        return {"content": [one, image, two]}
    if do == "env":
        return text(json.dumps(dict(os.environ)))
    if do == "cwd":
        return text(json.dumps([str(Path.cwd()), sys.argv[1:], os.getpid()]))
    if do == "nothing":
        return {"content": []}
    return {"content": [], "structuredContent": {"echo": asked}}


def call(message: dict) -> None:
    """Answer one call."""
    name, asked = message["params"]["name"], message["params"].get("arguments") or {}
    error = {"busy": -32000, "internal": -32603, "params": -32602}.get(asked.get("do"))
    if name != "work" and MODE != "quiet":
        error = -32602
    if error:
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": error, "message": "cannot do it"}})
        return
    answer = result(asked)
    if answer is not None:
        say({"jsonrpc": "2.0", "id": message["id"], "result": {**answer, **MODERN}})


def tools(message: dict) -> None:
    """List the tools, one on a page."""
    if MODE == "quiet":
        say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no lists"}})
        return
    schema = {"type": "object"}
    if MODE == "schema":
        promised = {"type": "object", "required": ["sum"]}
        page = {"tools": [{"name": "work", "inputSchema": schema, "outputSchema": promised}]}
        say({"jsonrpc": "2.0", "id": message["id"], "result": {**page, **MODERN}})
        return
    page = {"tools": [{"name": "work", "inputSchema": schema}], "nextCursor": "2"}
    if (message.get("params") or {}).get("cursor"):
        page = {"tools": [{"name": "rest", "inputSchema": schema}]}
    say({"jsonrpc": "2.0", "id": message["id"], "result": {**page, **MODERN}})


def main() -> None:
    """Serve until stdin ends."""
    if MODE == "exit":
        sys.exit("cannot find my configuration")
    if MODE in ("mute", "stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if MODE == "stubborn" and os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if MODE == "stubborn":
            Path(f"{os.getpid()}.pid").touch()
        while True:
            time.sleep(60)
    say("a line that is no message")
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            if MODE == "refuses":
                say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "not today"}})
                continue
            if MODE == "modern":
                data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
                error = {"code": -32022, "message": "too old", "data": data}
                say({"jsonrpc": "2.0", "id": message["id"], "error": error})
                continue
            if MODE == "leaves":
                sys.exit(7)
            if MODE == "odd":
                say({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "1999-01-01"}})
                continue
            info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            info["serverInfo"] = {"name": "plain", "version": "1"}
            say({"jsonrpc": "2.0", "id": message["id"], "result": info})
        elif method == "server/discover":
            found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **MODERN}
            say({"jsonrpc": "2.0", "id": message["id"], "result": found})
        elif method == "tools/list":
            tools(message)
        elif method == "tools/call":
            threading.Thread(target=call, args=(message,), daemon=True).start()


main()
