"""The contract of adapters, in both modes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from skillgauge.api import Target
from skillgauge_testkit import ADAPTERS, AdapterInputs, Maker, check_adapter, check_light_import, check_plugin

MODULE = "skillgauge_adapter_subprocess.plugin"

SKILL = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    asked = request["params"]
    if asked == "crash":
        sys.exit("out of order")
    if asked == "garble":
        print("hello")
        sys.exit()
    if asked == "wait":
        time.sleep(60)
    answer = {"error": {"code": 1, "message": "no"}} if asked == "refuse" else {"result": {"echo": asked}}
    if asked == "env":
        answer = {"result": dict(os.environ)}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""


def skill(folder: Path, **changes: object) -> Target:
    """A target that is a program in a folder."""
    (folder / "skill.py").write_text(SKILL)
    entrypoint = f"{shlex.quote(sys.executable)} -I -S skill.py"
    fields = {"id": "echo", "adapter": "subprocess", "entrypoint": entrypoint, "root": str(folder), **changes}
    return Target.model_validate(fields)


@pytest.mark.parametrize("worker", [False, True])
@pytest.mark.slow
def test_adapter(tmp_path: Path, worker: bool) -> None:
    """Calls answer who asked, fail as facts, and end when they are to end."""
    config = {"worker": worker}
    check_adapter(
        Maker(ADAPTERS, MODULE),
        skill(tmp_path, config=config),
        AdapterInputs(
            good="a", other={"b": [1, 2.5, None]}, slow="wait", failing=["crash", "garble", "refuse"], environment="env"
        ),
        failing_targets=[
            skill(tmp_path, id="silent", entrypoint="true", config=config),
            skill(tmp_path, id="bad", entrypoint="false", config=config),
        ],
        wrong_targets=[
            skill(tmp_path, entrypoint=""),
            skill(tmp_path, entrypoint="no-such-program-anywhere"),
            skill(tmp_path, config={"worker": "yes"}),
        ],
    )


def test_announcement() -> None:
    """Hook, provider and entry point fit together."""
    check_plugin(MODULE, "adapters")
    check_light_import(MODULE)
