"""Workers that have nothing in common with the process that runs the evaluation but an address."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

TOKEN = "a made-up token"
AGENT = """
replies:
  - skill: greeting
    fires: [greeting]
    run: cat "$(find . -name names.txt)" "$(find . -name given.txt)" > out.txt
    text: done
"""


def test_a_worker_without_a_common_folder(tmp_path: Path) -> None:
    """The skill, the input of a case and the script of the agent travel; nothing of them is left behind."""
    here, there, home = (tmp_path / name for name in ("here", "there", "home"))
    for folder in (here / "greeting/evals/files", there, home):
        folder.mkdir(parents=True)
    skill = here / "greeting"
    (skill / "SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nRead names.txt.\n")
    (skill / "names.txt").write_text("Ada\n")
    (skill / "evals/files/given.txt").write_text("Grace\n")
    check = {"text": "both names", "type": "command", "value": "grep -q Ada out.txt && grep -q Grace out.txt"}
    case = {"id": 1, "prompt": "Greet.", "files": ["files/given.txt"], "assertions": [check]}
    (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": [case]}))
    (here / "agent.yaml").write_text(AGENT)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environ = {"PATH": os.environ["PATH"], "ACME_QUEUE_TOKEN": TOKEN}
    environ |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    options = ["--executor", "acme-queue", "--set", f"executors.acme-queue.listen={address}"]
    options += ["--set", "executors.acme-queue.workers=0", "--set", "engines.mock.script=agent.yaml"]
    command = ["eval", "greeting", "--engine", "mock", "--no-baseline", "--format", "record", "--store", "none"]
    dials = f"until {sys.executable} -m acme_queue.worker {address}; do sleep 0.2; done"
    with subprocess.Popen(
        ["timeout", "60", "sh", "-c", dials], cwd=there, env={**environ, "HOME": str(home)}
    ) as worker:
        done = subprocess.run(
            [sys.executable, "-m", "skillgauge", *command, *options, "--output-dir", "out"],
            cwd=here,
            env={**environ, "HOME": str(here)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert worker.returncode == 0
    (record,) = (here / "out").glob("*.json")
    (result,) = json.loads(record.read_text())["results"]
    assert result["verdict"] == "pass", result
    assert list(there.iterdir()) == []
