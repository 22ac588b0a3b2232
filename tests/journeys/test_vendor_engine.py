"""What the engine of a vendor's journey reports, against what the model's server counted."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge.plugins.installed import read_index
from skillgauge.plugins.kinds import SANDBOXES
from skillgauge.plugins.registry import Registry
from skillgauge_testkit import (
    ModelFault,
    ModelReply,
    ModelRequest,
    ModelServer,
    ModelSession,
    by_prompt,
    use_skill,
    with_skill,
    write_file,
)

from .conftest import HERE, TIME_LIMIT_S, travel

ROOT = HERE.parents[1]
KEY = "made-up-key-of-acme-0123456789"
ENGINE = "skillgauge_engine_acme_agent"
SKILL = "release-notes"
NOTES = {
    "HRB-17": "[QUAY] Mended: Sessions outlive a change of networks.\nTicket: HRB-17\n",
    "HRB-40": "[BUOY] New: A weekly e-mail lists all open invitations.\nTicket: HRB-40\n",
    "HRB-52": "[CRANE] Gone: Files are no longer exported as XML.\n"
    "Ticket: HRB-52\nUpgrade: Export as JSON, which has all of it.\n",
}


def skilled(request: ModelRequest) -> ModelReply:
    """Write the note of the ticket as the skill wants it, and say so."""
    ticket = next(one for one in NOTES if one in request.prompt)
    if len(request.results) == 1:  # that of the skill
        return ModelReply(tools=[write_file(f"changes/{ticket}.note", NOTES[ticket])], input_tokens=230)
    return ModelReply("I wrote the note.", input_tokens=310, output_tokens=5)


def unskilled(request: ModelRequest) -> ModelReply:
    """Do what a model does that knows nothing of the house rules."""
    if request.turn:
        return ModelReply("I added an entry.", input_tokens=140, output_tokens=4)
    return ModelReply(tools=[write_file("CHANGELOG.md", "- A change.\n")], input_tokens=90)


def triggered(request: ModelRequest) -> ModelReply:
    """Load the skill for what it is about."""
    return ModelReply("Done.") if request.turn else ModelReply(tools=[use_skill(SKILL)])


def refused(request: ModelRequest) -> ModelReply:
    """Refuse the key, and repeat it, as some services do."""
    return ModelReply(fault=ModelFault.UNAUTHORIZED, message=f"the key {request.key} is not valid")


SCRIPT = by_prompt(
    {
        **{ticket: with_skill(SKILL, skilled, unskilled) for ticket in NOTES},
        "commit message": ModelReply("Speed up reports."),
        "HRB-6": triggered,
    },
    otherwise=ModelReply("14", output_tokens=1),
)


@pytest.fixture
def vendor(work: Path, user: dict[str, str]) -> dict[str, str]:
    """The environment of a vendor: the program is in PATH, its key is set, and there is a skill with evals."""
    program = Path(user["PATH"].partition(":")[0], "acme-agent")
    shutil.copy(HERE / "data/acme_agent.py", program)
    program.chmod(0o755)
    shutil.copytree(ROOT / "examples/agent/release-notes", work / SKILL)
    return {**user, "ACME_API_KEY": KEY}


def redirect(vendor: Mapping[str, str], server: ModelServer) -> None:
    """Have the vendor's API at the scripted server, in the user's own configuration."""
    file = Path(vendor["HOME"], ".config/skillgauge/config.yaml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"plugins": {"engines": {"acme-agent": {"base_url": f"{server.url}/v1"}}}}))


def evaluate(work: Path, vendor: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Evaluate once more with what the journey left behind."""
    program = str(work / "elsewhere/bin/skillgauge")
    words = ("eval", f"{SKILL}/evals/evals.json", "--engine", "acme-agent", "--model", "acme-large", "--json")
    command = [program, *words, "--format", "json", "markdown", "record", *arguments]
    return subprocess.run(
        command, cwd=work, env=dict(vendor), capture_output=True, text=True, check=False, timeout=TIME_LIMIT_S
    )


def strongest() -> str:
    """The sandbox that is taken where nobody names one."""
    try:
        report = asyncio.run(Registry(read_index()).make(SANDBOXES, "bubblewrap").check())
    except OSError:
        return "local/none"
    return "local/none" if report.problems else "bubblewrap/strict"


def tokens_of(sessions: Mapping[str, ModelSession]) -> Counter[tuple[int, int]]:
    """Input and output of each session, as the server counted them."""
    return Counter((one.tokens.input, one.tokens.output) for one in sessions.values())


def require_facts(results: list[dict[str, Any]], server: ModelServer) -> None:
    """Each arm was offered what it should be, the skill fired with it, and every token is accounted for."""
    for one in results:
        execution = one["execution"]
        trajectory = execution["trajectory"]
        offered = [SKILL] if one["arm"] == "with_skill" else []
        fired = [{"name": SKILL, "how": "invoked"}] if offered and one["case_id"] != "4" else []
        assert (trajectory["skills_offered"], trajectory["skills_fired"]) == (offered, fired)
        assert (execution["arm_integrity"], execution.get("failure")) == ("verified", None)
        assert trajectory["model"] == "acme-large"
        calls = [event["name"] for event in trajectory["events"] if event["kind"] == "tool_call"]
        assert calls == (["load_skill"] if fired else []) + ([] if one["case_id"] == "4" else ["write_file"])
    usages = [one["execution"]["usage"] for one in results]
    assert Counter((usage["input_tokens"], usage["output_tokens"]) for usage in usages) == tokens_of(server.sessions)


def holders(folder: Path, text: str) -> list[str]:
    """Files below a folder that hold a text, those of installed packages left out."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file()
        and not {"lib", "bin"} & set(path.relative_to(folder).parts)
        and text.encode() in path.read_bytes()
    ]


@pytest.mark.e2e
@pytest.mark.slow
def test_vendor_engine(work: Path, vendor: dict[str, str]) -> None:
    """A vendor's engine is tested, packed and used: its facts are those of the server, and its errors are no fails."""
    with ModelServer(SCRIPT, models=["acme-large"]) as server:
        redirect(vendor, server)
        done = travel("vendor_engine", work, vendor)
        assert "8 passed" in done.stdout
        assert {request.key for request in server.requests} == {KEY}
        assert len(server.sessions) == 20  # four evals in two arms, four queries three times each
    (wheel,) = (work / "dist").glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(f"{ENGINE}-")}
    assert names == {f"{ENGINE}/{name}" for name in ("__init__.py", "engine.py", "options.py", "plugin.py", "py.typed")}
    assert "with_skill · acme-large — pass rate 100.0%\n  (n = 4 cases, 0 errors" in done.stdout
    assert "without_skill · acme-large — pass rate 25.0%\n  (n = 4 cases, 0 errors" in done.stdout
    assert "Recall (fired when it should): 100.0% (n = 2 cases" in done.stdout
    assert "Specificity (silent when it should be): 100.0% (n = 2 cases" in done.stdout
    lift = "+75.0 points against without_skill (n = 4 cases; these cases: 95% interval -1.6 to +100.0, p = 0.250)"
    assert f"acme-large: not enough data: {lift}" in done.stderr
    assert done.stderr.endswith("; with_skill: 4 of 4 passed, balanced accuracy 100.0%\n")
    document = json.loads((work / "reports/eval-result.json").read_text())
    assert document["run_summary"]["delta"]["pass_rate"] == "+0.75"
    outputs = [done.stdout, done.stderr]

    for arguments, sandbox in (((), strongest()), (("--sandbox", "local"), "local/none")):
        with ModelServer(SCRIPT, models=["acme-large"]) as server:
            redirect(vendor, server)
            done = evaluate(work, vendor, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        results = json.loads(done.stdout)["results"]
        assert {one["execution"]["sandbox"] for one in results} == {sandbox}
        require_facts(results, server)
        passed = Counter(one["arm"] for one in results if one["verdict"] == "pass")
        assert passed == {"with_skill": 4, "without_skill": 1}
        outputs += [done.stdout, done.stderr]

    with ModelServer(refused) as server:
        redirect(vendor, server)
        done = evaluate(work, vendor)
    assert done.returncode == 3, done.stdout + done.stderr
    results = json.loads(done.stdout)["results"]
    assert {one["verdict"] for one in results} == {"error"}
    failures = [one["execution"]["failure"] for one in results]
    assert {(one["failure_class"], one["blame"]) for one in failures} == {("auth", "infrastructure")}
    cleaned = re.compile(
        r"the key (\*+|\[redacted:ACME_API_KEY\]) is not valid"
    )  # by the relay, or else by the redactor
    assert all(cleaned.search(one["message"]) for one in failures)

    outputs += [done.stdout, done.stderr]
    assert [text for text in outputs if KEY in text] == []
    assert holders(work, KEY) == holders(Path(vendor["HOME"]), KEY) == []
    assert len(holders(work, "acme-large")) > len(outputs)  # it does look into what was written
