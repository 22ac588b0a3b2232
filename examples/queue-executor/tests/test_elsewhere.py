"""Workers that have nothing in common with the process that runs the evaluation but an address."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOKEN = "a made-up token"
SKILL = Path(__file__).parents[1] / "my-skill"
AGENT = """
replies:
  - skill: greeting
    fires: [greeting]
    run: cat "$(find . -name names.txt)" "$(find . -name given.txt)" > out.txt
    text: done
"""


class Places:
    """A machine that begins a run, and another one."""

    def __init__(self, root: Path) -> None:
        self.here, self.owner, self.there, self.home = (root / name for name in ("here", "owner", "there", "home"))
        for folder in (self.here / "greeting/evals/files", self.owner, self.there, self.home):
            folder.mkdir(parents=True)
        skill = self.here / "greeting"
        (skill / "SKILL.md").write_text("---\nname: greeting\ndescription: Greets.\n---\nRead names.txt.\n")
        (skill / "names.txt").write_text("Ada\n")
        (skill / "evals/files/given.txt").write_text("Grace\n")
        check = {"text": "both names", "type": "command", "value": "grep -q Ada out.txt && grep -q Grace out.txt"}
        case = {"id": 1, "prompt": "Greet.", "files": ["files/given.txt"], "assertions": [check]}
        (skill / "evals/evals.json").write_text(json.dumps({"skill_name": "greeting", "evals": [case]}))

    def evaluated(self, *options: str) -> dict[str, Any]:
        """The result of the case, made by a worker at the other place."""
        done, worker = self.command(*options)
        assert done.returncode == 0, done.stdout + done.stderr
        assert worker == 0
        (record,) = (self.here / "out").glob("*.json")
        (result,) = json.loads(record.read_text())["results"]
        assert list(self.there.iterdir()) == []
        return result

    def command(self, *options: str) -> tuple[subprocess.CompletedProcess[str], int]:
        """The command's end, and the exit code of the worker."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        environ = {"PATH": os.environ["PATH"], "ACME_QUEUE_TOKEN": TOKEN}
        environ |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        how = ["--executor", "acme-queue", "--set", f"executors.acme-queue.listen={address}"]
        how += ["--set", "executors.acme-queue.workers=0", "--format", "record", "--store", "none"]
        command = ["eval", *how, *options, "--output-dir", "out"]
        dials = f"until {sys.executable} -m acme_queue.worker {address}; do sleep 0.2; done"
        with subprocess.Popen(
            ["timeout", "60", "sh", "-c", dials], cwd=self.there, env={**environ, "HOME": str(self.home)}
        ) as worker:
            done = subprocess.run(
                [sys.executable, "-m", "skillgauge", *command],
                cwd=self.here,
                env={**environ, "HOME": str(self.owner)},
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            if done.returncode:
                worker.terminate()  # it dials for ever
        return done, worker.returncode


@pytest.mark.parametrize("folder", ["here", "owner", "beside"])
@pytest.mark.parametrize("is_absolute", [False, True], ids=["relative", "absolute"])
def test_a_worker_without_a_common_folder(tmp_path: Path, folder: str, is_absolute: bool) -> None:
    """The skill, the input of a case and the script of the agent travel, wherever they lie on this machine."""
    places = Places(tmp_path)
    script = tmp_path / folder / "agent.yaml"
    script.parent.mkdir(exist_ok=True)
    script.write_text(AGENT)
    if not is_absolute:
        script = Path(os.path.relpath(script, places.here))
    who = ("greeting", "--engine", "mock", "--no-baseline")
    result = places.evaluated(*who, "--set", f"engines.mock.script={script}")
    assert result["verdict"] == "pass", result


def test_the_scorer_of_a_suite_travels(tmp_path: Path) -> None:
    """No id depends on where it lies, so the worker has the same plan."""
    places = Places(tmp_path)
    shutil.copytree(SKILL, places.here / "my-skill")
    (places.here / "grade.py").write_text("def score(output, expected):\n    return bool(output)\n")
    expected = {"type": "custom", "customScorerPath": "grade.py"}
    task = {"id": "t1", "description": "Answer.", "inputData": {}, "expectedOutput": expected}
    (places.here / "tasks.json").write_text(json.dumps([task]))
    assert places.evaluated("my-skill", "--tasks", "tasks.json")["verdict"] == "pass"


def test_what_no_worker_would_have_is_refused(tmp_path: Path) -> None:
    """Before the first trial, by the name of the option."""
    places = Places(tmp_path)
    (places.here / "grade.py").touch()
    check = json.dumps({"path": str(places.here / "grade.py")})
    done, _ = places.command("greeting", "--engine", "mock", "--no-baseline", "--check", f"custom={check}")
    assert done.returncode == 2
    assert "error[executor.path]: option 'path' of scorers.custom is" in done.stderr
    assert "as grade.py" in done.stderr
