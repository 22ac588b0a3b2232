"""Record the sessions that `make demo` replays: the real agent, with a scripted model in the place of a paid one.

Run: python examples/agent/record.py PROGRAM, where PROGRAM is the path of `claude`. What the agent does is real
(it offers the skill, loads it, writes files, runs commands); only the model's words are written here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, by_prompt, run_shell, with_skill

HERE = Path(__file__).resolve().parent
SKILL = HERE / "release-notes"
RECORDINGS = HERE / "recordings"
NOTES = {
    "HRB-17": "[QUAY] Mended: Sessions outlive a change of networks.\nTicket: HRB-17\n",
    "HRB-40": "[BUOY] New: A weekly e-mail lists all open invitations.\nTicket: HRB-40\n",
    "HRB-52": "[CRANE] Gone: Files are no longer exported as XML.\n"
    "Ticket: HRB-52\nUpgrade: Export as JSON, which has all of it.\n",
}


def writing(path: str, text: str) -> str:
    """The command that writes a file. The answer of an agent's own tool for it would be words of its vendor."""
    folder = shlex.quote(str(Path(path).parent))
    return f"mkdir -p {folder} && printf %s {shlex.quote(text)} > {shlex.quote(path)}"


def skilled(request: ModelRequest, skills: str) -> ModelReply:
    """Write the note of the ticket, have it checked, and say so."""
    ticket = next(one for one in NOTES if one in request.prompt)
    note = f"changes/{ticket}.note"
    if request.turn == 1:  # after the skill
        return ModelReply(tools=[run_shell(writing(note, NOTES[ticket]))], input_tokens=1200, output_tokens=60)
    if request.turn == 2:  # after the skill and the note
        checker = f"python3 {skills}/release-notes/scripts/check_note.py"
        return ModelReply(tools=[run_shell(f"{checker} {note}")], input_tokens=1300, output_tokens=40)
    return ModelReply(f"I wrote {note}.", input_tokens=1400, output_tokens=12)


def unskilled(request: ModelRequest) -> ModelReply:
    """Do what a model does that knows nothing of the house rules."""
    if request.turn:
        return ModelReply("I added an entry to CHANGELOG.md.", input_tokens=700, output_tokens=14)
    entry = run_shell(writing("CHANGELOG.md", "## Unreleased\n\n- A change.\n"))
    return ModelReply(tools=[entry], input_tokens=600, output_tokens=40)


def asked(_request: ModelRequest) -> ModelReply:
    """Of the queries, those that want a release note have the skill loaded, and that is all that is asked."""
    return ModelReply("The skill says how.", input_tokens=900, output_tokens=6)


def script(skills: str) -> Callable[[ModelRequest], ModelReply]:
    """What the model says; `skills` is where the agent has its skills, relative to the workspace."""
    answer = ModelReply("14", input_tokens=500, output_tokens=3)
    note = with_skill("release-notes", partial(skilled, skills=skills), unskilled)
    wanted = with_skill("release-notes", asked, lambda _: answer)
    queries = {"It needs its release note": wanted, "Add the changelog entry": wanted}
    return by_prompt(dict.fromkeys(NOTES, note) | queries, answer)


def main(program: str) -> int:
    """Record both arms of every eval, and every query, three times, replacing what was recorded before."""
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    with ModelServer(script(".claude/skills")) as server, tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "skillgauge", "eval", str(SKILL), "--engine", "claude-code"]
        command += ["--model", "claude-sonnet-4-5", "--runs", "3", "--record", str(RECORDINGS)]
        command += ["--store", "none", "--sandbox", "local"]
        command += ["--set", f"engines.claude-code.program={program}"]
        command += ["--set", f"engines.claude-code.base_url={server.url}", "--output-dir", f"{home}/reports", "--json"]
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
        environment["ANTHROPIC_API_KEY"] = "no-key-is-needed-here-0123456789"
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
