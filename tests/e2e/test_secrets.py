"""No value of a secret is written, whoever has it and however it is spelt or cut.

Findings: P-B2, T-S9, T-S10, T-S11, E-C3.
"""

from __future__ import annotations

import gzip
import json
import stat
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from skillgauge_testkit.program import Done, Program

from .conftest import MakeSkill, task

Tasks = Callable[..., Path]

KEY = "sk-canary-" + "".join(chr(ord("a") + at * 7 % 26) + str(at % 10) for at in range(49))
OTHERS = ["tk-second-4t8b2n6m1q9w5e7r3y0u", "gh-third-9z8x7c6v5b4n3m2a1s0d"]
"""Further secrets, of other plugins and programs."""
PIECES = [KEY[at : at + 24] for at in range(0, len(KEY) - 24, 12)]


def written(work: Path) -> dict[str, str]:
    """Whatever text is in the files of a folder, and in what they hold in base64 and gzip."""
    found = {}
    for path in work.rglob("*"):
        if path.is_file() and "input" not in path.parts:
            content = path.read_bytes()
            found[str(path.relative_to(work))] = content.decode("utf-8", "replace")
            if content.startswith(b"\x1f\x8b"):
                found[f"{path} unpacked"] = gzip.decompress(content).decode("utf-8", "replace")
    return found


def assert_clean(work: Path, *dones: Done) -> None:
    """Not even a piece of the key is in any file or in what was printed."""
    texts = written(work) | {f"printed {at}": done.stdout + done.stderr for at, done in enumerate(dones)}
    for name, text in texts.items():
        squeezed = "".join(text.split()).replace("\\n", "")
        for piece in (*PIECES, KEY[::-1][:24], *OTHERS):
            assert piece not in squeezed, (name, piece)


PLUGIN = """
import os
from skillgauge.api import *

NAME = "ACME_DB_LOGIN"

class Reason:
    version = "1"
    async def score(self, context):
        return Score.failed("could not log in with " + os.environ[NAME])

class Raises(Reason):
    async def score(self, context):
        raise RuntimeError("could not log in with " + os.environ[NAME])

class Files:
    suffix = "acme.txt"
    def render(self, view):
        raise RuntimeError("cannot send with " + os.environ["ACME_REPORTER_LOGIN"])
    def read(self, path):
        return None

@hookimpl
def skillgauge_scorers():
    traits = Traits(secrets=(NAME,), passes=(NAME,))
    yield Provider(name="sec", factory=Reason, summary="s", traits=traits)
    yield Provider(name="sece", factory=Raises, summary="s", traits=traits)

@hookimpl
def skillgauge_reporters():
    yield Provider(name="acme", factory=Files, summary="s", traits=Traits(secrets=("ACME_REPORTER_LOGIN",)))
"""


@pytest.mark.e2e
@pytest.mark.requirement("BF-CRED-005", "UA-REPORT-015")
def test_secrets_of_private_plugins_are_not_written(
    program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks
) -> None:
    """P-B2: what a scorer says or raises, what a reporter raises; in reports, store, log and on the terminal."""
    folder = work / "input"
    folder.mkdir()
    (folder / "sec.py").write_text(PLUGIN)
    command = ["eval", "--skills", make_skill(), "--tasks", tasks(task("a", "x")), "--plugin", folder / "sec.py"]
    command += ["--check", "sec", "--check", "sece", "--format", "json,markdown,record,html,acme"]
    login = {"ACME_DB_LOGIN": KEY, "ACME_REPORTER_LOGIN": OTHERS[0]}
    done = program(*command, "--store", "s.db", "-v", env=login)
    assert "[redacted:ACME_DB_LOGIN]" in "".join(written(work).values()), done.stderr
    assert "[redacted:ACME_REPORTER_LOGIN]" in done.stderr
    assert_clean(work, done)


def agent(work: Path, script: str) -> list[object]:
    """The command line of an agent that is a shell script with a key, for one eval."""
    folder = work / "adv"
    (folder / "evals").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text("---\nname: adv\ndescription: Does things.\n---\nDo it.\n")
    one = {"id": 1, "prompt": "p", "assertions": [{"text": "v", "type": "command", "value": "true"}]}
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "adv", "evals": [one]}))
    options = {"argv": ["sh", "-c", script], "pass_env": ["MY_AGENT_KEY"], "skill_folder": ".skills"}
    words: list[object] = ["eval", "adv", "--engine", "command", "--no-baseline", "--sandbox", "local"]
    for name, value in options.items():
        words += ["--set", f"engines.command.{name}={json.dumps(value)}"]
    return [*words, "--format", "json", "record", "html", "--record", "recorded", "--store", "s.db"]


N = len(KEY)
SPELLINGS = {
    "cut in a message": f'printf "%s" "$MY_AGENT_KEY" >&2; head -c {300 - (N - 1)} /dev/zero | tr "\\0" - >&2; exit 1',
    "cut in the middle": (
        f'head -c {32768 - N + 1} /dev/zero | tr "\\0" x; printf "%s" "$MY_AGENT_KEY";'
        ' head -c 70000 /dev/zero | tr "\\0" y'
    ),
    "base64 in lines": 'printf "%s" "$MY_AGENT_KEY" | base64 -w 20',
    "base64 in a file": 'printf "%s" "$MY_AGENT_KEY" | base64 > out.txt',
    "base32": 'printf "%s" "$MY_AGENT_KEY" | base32 -w 0',
    "hex": 'printf "%s" "$MY_AGENT_KEY" | od -An -v -tx1',
    "backwards": 'printf "%s" "$MY_AGENT_KEY" | rev',
    "one letter a line": 'printf "%s" "$MY_AGENT_KEY" | fold -w 1',
    "escaped": 'printf "%s" "$MY_AGENT_KEY" | od -An -v -tx1 | tr -d "\\n" | sed "s/ /%/g"',
    "in JSON": 'printf "%s" "$MY_AGENT_KEY" | od -An -v -tx1 | tr -d "\\n" | sed "s/ /\\\\\\\\u00/g"',
}


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("name", SPELLINGS)
def test_no_spelling_of_a_key_is_written(program: Program, work: Path, name: str) -> None:
    """T-S9 a and b, T-S10, E-C3: an agent that tells its key in another way, or so that it is cut."""
    done = program(*agent(work, SPELLINGS[name]), env={"MY_AGENT_KEY": KEY})
    assert done.code in (0, 1, 3), done.stderr
    texts = written(work)
    assert any("redacted:MY_AGENT_KEY" in text for text in texts.values()), sorted(texts)
    assert_clean(work, done)
    for text in texts.values():
        assert KEY.encode().hex() not in "".join(text.split())


@pytest.mark.e2e
def test_keys_that_the_run_does_not_use_are_kept_out(program: Program, work: Path) -> None:
    """E-C3: an agent in the tier `none` reads every environment of its user; what looks like a secret there is none."""
    others = {"OPENAI_API_KEY": KEY, "GITHUB_TOKEN": OTHERS[0], "PROXY": f"http://user:{OTHERS[1]}@127.0.0.1:1"}
    (work / "input").mkdir()
    environ = work / "input/environ"
    environ.write_text("".join(f"{name}={value}\0" for name, value in others.items()))
    words = agent(work, f"cat {environ}; cat {environ} > env.txt; tr '\\0' '\\n' < {environ} > lines.txt")
    done = program(*words, env=others | {"MY_AGENT_KEY": "another-key-0123456789"})
    assert done.code in (0, 1, 3), done.stderr
    assert "redacted:OPENAI_API_KEY" in "".join(written(work).values())
    assert_clean(work, done)


@pytest.mark.slow
@pytest.mark.e2e
def test_a_key_in_a_setting_is_not_kept_with_the_plan(program: Program, work: Path) -> None:
    """What the user typed is part of what the run is known by, so it stands in the plan, too."""
    words = agent(work, "true")
    at = words.index("--set")
    words[at:at] = ["--set", "engines.command.env=" + json.dumps({"TOKEN": KEY})]
    done = program(*words, env={"MY_AGENT_KEY": KEY})
    assert done.code in (0, 1, 3), done.stderr
    assert "redacted:MY_AGENT_KEY" in "".join(written(work).values())
    assert_clean(work, done)


@pytest.mark.e2e
def test_a_token_in_a_refusal_is_not_cut(program: Program, work: Path, make_skill: MakeSkill, tasks: Tasks) -> None:
    """T-S9 c: a service repeats the token where the excerpt of its refusal ends."""

    class Handler(BaseHTTPRequestHandler):
        """Refuses everything, with the token in the answer."""

        def do_POST(self) -> None:
            """Answer 500."""
            body = b"p" * (299 - len(KEY) + 1) + KEY.encode() + b"z" * 400
            self.send_response(500)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        skill = make_skill(adapterType="http", entrypoint=f"http://127.0.0.1:{server.server_port}")
        config = {"authType": "bearer", "authTokenEnvKey": "MY_TOKEN_NAME"}
        (skill.parent / "adapter.config.json").write_text(json.dumps(config))
        command = ["eval", "--skills", skill, "--tasks", tasks(task("a", "x")), "--format", "json", "record", "html"]
        done = program(*command, "--store", "s.db", env={"MY_TOKEN_NAME": KEY})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert "redacted" in (work / "reports/eval-result.json").read_text()
    assert_clean(work, done)


@pytest.mark.slow
@pytest.mark.e2e
def test_a_kept_workspace_has_no_key_behind_closed_doors(
    program: Program, work: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """T-S11: folders and files that the agent closed, as root and as an ordinary user."""
    (tmp_path / "kept").mkdir()
    script = (
        'mkdir -p locked/in; printf "%s" "$MY_AGENT_KEY" > locked/in/k; chmod 000 locked/in/k locked/in locked;'
        'mkdir "$MY_AGENT_KEY"; chmod 000 "$MY_AGENT_KEY"'
    )
    environment["TMPDIR"] = str(tmp_path / "kept")
    done = program(*agent(work, script), "--keep-workspaces", env={"MY_AGENT_KEY": KEY})
    assert "workspace.kept" in done.stderr
    assert "workspace.not-cleaned" not in done.stderr
    closed = [
        path for path in (tmp_path / "kept").rglob("*") if path.is_dir() and not path.stat().st_mode & stat.S_IRUSR
    ]
    assert closed == []
    (file,) = (tmp_path / "kept").rglob("k")
    file.chmod(0o600)
    assert file.read_text() == "[redacted:MY_AGENT_KEY]"
    assert_clean(tmp_path / "kept", done)
