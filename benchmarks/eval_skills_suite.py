"""A suite of the format eval-skills: a skill that doubles a number, as a process or as a service, and tasks for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SKILL = """import json, sys
request = json.loads(sys.stdin.read())
n = request["params"]["n"]
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": str(n * 2)}}))
"""
SERVICE = """import asyncio, json

class Skill(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.received = transport, b""

    def data_received(self, data):
        self.received += data
        head, blank, body = self.received.partition(b"\\r\\n\\r\\n")
        lengths = [line for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:")]
        if blank and len(body) == int(lengths[0].split(b":")[1]):
            self.received = b""
            answer = json.dumps({"result": str(json.loads(body)["input"]["n"] * 2)}).encode()
            head = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n"
            self.transport.write(head % len(answer) + answer)

async def main():
    server = await asyncio.get_running_loop().create_server(Skill, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
"""Prints the port on which it serves the skill."""
POSTS = """import asyncio, sys, httpx

async def post(client, numbers):
    for n in numbers:
        answer = await client.post(sys.argv[1], json={"skillId": "double", "version": "1.0.0", "input": {"n": n}})
        assert answer.json()["result"] == str(n * 2)

async def main():
    async with httpx.AsyncClient(timeout=30) as client:
        numbers = iter(range(int(sys.argv[2])))
        await asyncio.gather(*(post(client, numbers) for _ in range(int(sys.argv[3]))))

asyncio.run(main())
"""
"""Posts all inputs to the address that is its first argument, and does nothing else."""


def write_suite(folder: Path, tasks: int, *, python: str = sys.executable) -> tuple[Path, Path]:
    """Write a skill that doubles a number, run by an interpreter, and that many tasks for it; return both files."""
    skill = folder / "skill.json"
    (folder / "skill.py").write_text(SKILL)
    entrypoint = f"{python} -I -S skill.py"
    skill.write_text(
        json.dumps(
            {
                "id": "double",
                "name": "Double",
                "version": "1.0.0",
                "description": "Doubles a number.",
                "tags": [],
                "inputSchema": {},
                "outputSchema": {},
                "adapterType": "subprocess",
                "entrypoint": entrypoint,
                "metadata": {},
            }
        )
    )
    benchmark = folder / "tasks.json"
    benchmark.write_text(
        json.dumps(
            [
                {
                    "id": f"task_{n:05}",
                    "description": "double it",
                    "inputData": {"n": n},
                    "expectedOutput": {"type": "exact", "value": str(n * 2)},
                    "evaluator": {"type": "exact"},
                }
                for n in range(tasks)
            ]
        )
    )
    return skill, benchmark


def use_adapter(skill: Path, adapter: str, entrypoint: str) -> None:
    """Let the skill be called in another way than as a process for each task."""
    skill.write_text(json.dumps(json.loads(skill.read_text()) | {"adapterType": adapter, "entrypoint": entrypoint}))
