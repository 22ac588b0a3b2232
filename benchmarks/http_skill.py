"""A skill that is a service, end to end with store and reports, against a bare httpx loop.

Run: python benchmarks/http_skill.py [TASKS...]

The service is a process of its own. The floor is a program, too: it posts the same inputs with one client at the same
concurrency, reads the answers, and does nothing else. Both are measured in turns, and the best turn of each counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import best_of, machine, verdict
from subprocess_skill import CONCURRENCY, end_to_end, write_suite

GOALS = {2000: 0.65, 10_000: 0.65}
TURNS = 3
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

FLOOR = """import asyncio, sys, httpx

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


@contextmanager
def service() -> Iterator[str]:
    """The address of a running service."""
    with subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.terminate()


def floor(url: str, tasks: int) -> float:
    """Seconds of a program that only posts."""
    return best_of([sys.executable, "-c", FLOOR, url, str(tasks), str(CONCURRENCY)], times=1)


def main() -> None:
    """Measure and print."""
    print(machine())
    for tasks in [int(word) for word in sys.argv[1:]] or GOALS:
        ours, bare = [], []
        with tempfile.TemporaryDirectory() as name, service() as url:
            folder = Path(name)
            skill, _ = write_suite(folder, tasks)
            skill.write_text(json.dumps(json.loads(skill.read_text()) | {"adapterType": "http", "entrypoint": url}))
            for _ in range(TURNS):
                bare.append(floor(url, tasks))
                ours.append(end_to_end(folder, tasks))
        ratio = min(bare) / min(ours)
        goal = GOALS.get(tasks, 0.0)
        print(
            f"{tasks} tasks: {min(ours):.2f} s ({tasks / min(ours):.0f}/s), bare {min(bare):.2f} s "
            f"({tasks / min(bare):.0f}/s), ratio {ratio:.2f} (goal {goal:g}): {verdict(ratio >= goal)}"
        )


if __name__ == "__main__":
    main()
