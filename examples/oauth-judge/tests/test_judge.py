"""How tokens are lent, used and kept secret."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from acme_judge.options import AcmeJudgeOptions
from acme_judge.tokens import MARGIN_S, Tokens
from conftest import Gateway

from skillgauge.api import FailureClass, JudgeReply, JudgeRequest
from skillgauge_testkit import JUDGES, Maker

make = Maker(JUDGES, "acme_judge.plugin")
PROJECT = Path(__file__).parents[1]
QUESTION = JudgeRequest(system="Grade.", user="How good?")


def test_one_token_serves_many_until_it_is_withdrawn(gateway: Gateway) -> None:
    """Three at once lend one token; what it is not good for any more is asked again with another, once."""

    async def ask() -> list[JudgeReply]:
        judge = make(gateway.options)
        first = await asyncio.gather(*(judge.ask(QUESTION) for _ in range(2)))
        return [*first, await judge.ask(QUESTION)]

    replies = asyncio.run(ask())
    assert [reply.error for reply in replies] == [None, None, None]
    assert gateway.seen() == {"tokens": 2, "questions": 3, "refused": 1}


def test_a_token_is_renewed_before_it_expires(gateway: Gateway) -> None:
    """It is kept until its last half minute."""
    now = [1000.0]

    async def lend() -> list[str]:
        tokens = Tokens(AcmeJudgeOptions.model_validate(gateway.options), lambda: now[0])
        found = [await tokens.current()]
        for later in (3600 - MARGIN_S - 1, 2):
            now[0] += later
            found.append(await tokens.current())
        return found

    first, still, new = asyncio.run(lend())
    assert first == still != new


def test_a_lent_token_is_in_no_result(gateway: Gateway, tmp_path: Path) -> None:
    """The gateway repeats its tokens in every answer: an evaluation writes and says none of them."""
    check = 'rubric={"criteria": "It says when.", "scale": "0-10"}'
    what = ("eval", PROJECT / "my-skill", "--tasks", PROJECT / "tasks.json", "--check", check, "--judge", "acme-judge")
    where = [f"--set=judges.acme-judge.{name}={value}" for name, value in gateway.options.items()]
    how = ("--store", "runs.db", "--format", "json,record", "-v")
    done = subprocess.run(
        [sys.executable, "-m", "skillgauge", *what, *where, *how],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=120,
    )
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"[redacted:ACME_TOKEN]" in content for content in written), done.stderr
    assert not any(b"made-up-access-token" in content for content in (*written, done.stdout, done.stderr))


def test_a_wrong_secret_is_told_before_anything_runs(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` tries it, and says whose secret it should be; without any it says which variable."""
    monkeypatch.setenv("ACME_CLIENT_SECRET", "another-made-up-secret")
    (problem,) = asyncio.run(make(gateway.options).check())
    assert "no token: HTTP 401" in problem.message
    assert "another-made-up-secret" not in str(problem)
    reply = asyncio.run(make(gateway.options).ask(QUESTION))
    assert reply.failure_class is FailureClass.AUTH
    monkeypatch.delenv("ACME_CLIENT_SECRET")
    (problem,) = asyncio.run(make(gateway.options).check())
    assert problem.code == "judge.no-key"
    assert "ACME_CLIENT_SECRET" in (problem.hint or "")
