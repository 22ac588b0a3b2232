"""Sessions with real processes: whatever a program does, there is an account of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from skillgauge.api import Blame, Execution, Fact, FailureClass, Limits, RunRequest, SandboxSpec, Traits
from skillgauge_agent_programs.accounts import Transcript
from skillgauge_agent_programs.credentials import KEY_DESCRIPTOR, PLACEHOLDER
from skillgauge_agent_programs.engine import Launch
from skillgauge_agent_programs.failures import failed
from skillgauge_agent_programs.sessions import with_pause
from skillgauge_testkit import EnginePrompts, TemporarySandbox, check_engine

from .conftest import KEY, AcmeEngine, Play, Said

Acme = Callable[..., AcmeEngine]
ANSWER = """printf '%s\\n' '{"say": "working"}' '{"answer": "done"}'"""


def test_contract(acme: Acme) -> None:
    """A vendor's engine of a few lines keeps the contract of its kind."""
    script = f"""
    case "$(cat)" in
    hello) {ANSWER};;
    wait) sleep 60;;
    *) echo "no luck $ACME_API_KEY" >&2; exit 1;;
    esac
    """
    engine, tells_fired = acme(script), Traits(tells=frozenset({Fact.FIRED}))
    check_engine(
        lambda: engine,
        tells_fired,
        EnginePrompts(answered="hello", slow="wait", failing="crash"),
        secret=KEY,
        patience_s=60,
    )


def test_answer(acme: Acme, play: Play) -> None:
    """Events come as they happen, the rest at the end, and stdin is closed after the prompt."""
    execution, events, watching = play(acme(f'test "$(cat)" = hi && {ANSWER}'))
    assert (execution.failure, execution.text, execution.exit_code) == (None, "done", 0)
    assert [event.text for event in events] == ["working", ""]
    assert execution.trajectory is not None
    assert execution.trajectory.raw == '{"say": "working"}\n{"answer": "done"}\n'
    (command,) = watching.commands
    assert dict(command.env) == {"ACME_QUIET": "1", "ACME_API_KEY": KEY}
    assert command.argv[1:] == ("run", "--api", "https://api.acme.example")


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        ("echo 'no such flag' >&2; exit 2", FailureClass.LAUNCH, "no such flag"),
        ("echo '{\"say\": 1}'; echo first >&2; echo last >&2; exit 3", FailureClass.CRASH, "exit code 3"),
        ("echo '{\"say\": 1}'", FailureClass.PROTOCOL, "without telling the session's end"),
        ("kill -9 $$", FailureClass.KILLED, "SIGKILL"),
        ("exit 143", FailureClass.KILLED, "SIGTERM"),
    ],
)
def test_no_end_is_a_failure(acme: Acme, play: Play, script: str, kind: FailureClass, words: str) -> None:
    """Without its end in the stream a session failed, whatever the exit code."""
    failure = play(acme(script))[0].failure
    assert failure is not None
    assert (failure.failure_class, failure.blame, failure.retryable) == (kind, Blame.INFRASTRUCTURE, False)
    assert words in failure.message


@pytest.mark.parametrize(
    ("script", "kind"),
    [("kill -9 $$", FailureClass.KILLED), ("exit 3", FailureClass.CRASH), ("exit 0", FailureClass.PROTOCOL)],
)
def test_an_agent_that_ends_itself_has_failed(acme: Acme, play: Play, script: str, kind: FailureClass) -> None:
    """An agent that has called a tool can have ended its own program, and does not leave the rates by that."""
    failure = play(acme(f'echo \'{{"call": "shell"}}\'; {script}'))[0].failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (kind, Blame.TARGET)


def test_an_end_that_was_told_counts(acme: Acme, play: Play) -> None:
    """The exit code after the end does not turn an answer into a failure."""
    execution, _, _ = play(acme(f"{ANSWER}; exit 7"))
    assert (execution.failure, execution.text, execution.exit_code) == (None, "done", 7)


@pytest.mark.slow
def test_time_limit(acme: Acme, play: Play) -> None:
    """Time that runs out while the agent is at work is its own limit, and what it said until then is there."""
    execution, events, _ = play(acme('echo \'{"call": "build"}\'; sleep 60'), limits=Limits(timeout_s=1))
    assert execution.failure is not None
    assert (execution.failure.failure_class, execution.failure.blame) == (FailureClass.TIMEOUT, Blame.AGENT_LIMIT)
    assert [event.name for event in events] == ["build"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "kind", "blame"),
    [
        ("sleep 60", FailureClass.NETWORK, Blame.INFRASTRUCTURE),
        ('echo \'{"notice": "asks again"}\'; sleep 60', FailureClass.NETWORK, Blame.INFRASTRUCTURE),
        (
            'echo \'{"call": "build"}\'; echo \'{"result": "built"}\'; sleep 60',
            FailureClass.NETWORK,
            Blame.INFRASTRUCTURE,
        ),
        ('sleep 2; echo \'{"say": "I begin"}\'; sleep 60', FailureClass.TIMEOUT, Blame.AGENT_LIMIT),
    ],
    ids=["from the start", "with notices", "in the middle", "for less than half of the time"],
)
def test_a_service_that_does_not_answer(acme: Acme, play: Play, script: str, kind: FailureClass, blame: Blame) -> None:
    """Most of a session's time spent on waiting for the model is no fault of the agent (E-A3)."""
    failure = play(acme(script), limits=Limits(timeout_s=3))[0].failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (kind, blame)


@pytest.mark.slow
def test_a_program_that_hangs_after_its_end(acme: Acme, play: Play) -> None:
    """A session that was told to be over keeps its answer, and a note says what became of the program (E-A4)."""
    execution, _, _ = play(acme(f"{ANSWER}; sleep 60"), limits=Limits(timeout_s=1))
    assert (execution.failure, execution.text) == (None, "done")
    assert any("did not exit" in note for note in execution.notes)


def test_an_answer_without_a_word(acme: Acme, play: Play) -> None:
    """It is none, unless it ends some work (E-A7)."""
    failure = play(acme('echo \'{"answer": " "}\''))[0].failure
    assert failure is not None
    assert (failure.failure_class, failure.blame) == (FailureClass.PROTOCOL, Blame.INFRASTRUCTURE)
    worked = 'echo \'{"call": "build"}\'; echo \'{"result": "built"}\'; echo \'{"answer": ""}\''
    assert play(acme(worked))[0].failure is None


@pytest.mark.parametrize(
    ("command", "is_read"),
    [
        ("cat .skills/pack/SKILL.md", True),
        ("find . -name 'SKILL.md' -exec cat {} +", True),
        ("head -9 .skills/*/SKILL.md", True),
        ("cp .skills/pack/SKILL.md copy; cat -n copy", True),
        ("cat missing .skills/pack/SKILL.md", True),
        ("ls -la .skills/pack/SKILL.md; stat .skills/pack/SKILL.md; wc .skills/pack/SKILL.md", False),
        ("echo .skills/pack/SKILL.md; test -f .skills/pack/SKILL.md", False),
        ("cp .skills/pack/SKILL.md copy", False),
        ("head -3 .skills/pack/SKILL.md", False),
        ("cat other/pack/SKILL.md", False),
    ],
)
def test_a_skill_is_read_if_its_text_came_back(acme: Acme, play: Play, command: str, is_read: bool) -> None:
    """Whatever the command names: what it printed tells whether the agent has seen the skill (E-A6)."""
    skill = (
        "---\nname: pack\ndescription: Packs.\n---\n# How to pack\n\nPut each label onto its own line, in capitals.\n"
    )
    files = {".skills/pack/SKILL.md": skill, "other/pack/SKILL.md": "# How to pack\n\nThis is another one.\n"}
    script = f"""
    echo '{{"call": "shell"}}'
    echo "{{\\"result64\\": \\"$({{ {command}; }} 2>&1 | base64 -w0)\\"}}"
    {ANSWER}
    """
    execution, _, _ = play(acme(script), skills=["pack"], files=files)
    assert execution.trajectory is not None
    fired = [(one.name, one.how) for one in execution.trajectory.skills_fired or ()]
    assert fired == ([("pack", "read")] if is_read else [])


def test_any_output_is_read(acme: Acme, play: Play, tmp_path: Path) -> None:
    """Noise, bytes that are no text, a line without an end, halves of characters and a huge line do no harm."""
    stream = b"\xff\xfe noise\n\n[1]\n{broken\n" + b'{"say": "\xc3\xa9 \xff"}\n' + b'{"say": "\\ud800 NaN", "x": NaN}\n'
    stream += b'{"say": "' + b"y" * 3_000_000 + b'"}\n' + b'{"deep": ' + b"[" * 5000 + b"\n" + b'{"answer": "done"}'
    (tmp_path / "stream").write_bytes(stream)
    execution, events, _ = play(acme(f'cat "{tmp_path}/stream"'))
    assert (execution.failure, execution.text) == (None, "done")
    assert [event.text for event in events[:2]] == ["é \N{REPLACEMENT CHARACTER}", "? NaN"]
    assert execution.notes[0] == "4 lines of the program's output were no events"
    assert execution.trajectory is not None
    assert execution.trajectory.raw is not None
    assert len(execution.trajectory.raw) < 1_100_000
    assert execution.truncated
    note = next(line for line in execution.trajectory.raw.splitlines() if "skillgauge.left_out" in line)
    assert json.loads(note)["lines"] == 1
    execution.model_dump_json()


def test_limit_of_what_is_kept(acme: Acme, play: Play) -> None:
    """The user's limit of output is that of the stream that is kept; what it tells is read in any case."""
    script = 'for i in $(seq 200); do echo \'{"say": "xxxxxxxxxx"}\'; done; echo \'{"answer": "done"}\''
    execution, events, _ = play(acme(script), limits=Limits(timeout_s=60, output_bytes=1000))
    assert (execution.text, len(events)) == ("done", 201)
    assert execution.trajectory is not None
    assert 800 < len(execution.trajectory.raw or "") < 1200
    assert (execution.trajectory.raw or "").endswith('{"answer": "done"}\n')


def test_key_is_in_nothing_that_comes_back(acme: Acme, play: Play) -> None:
    """Neither in events nor in answer, stream, error output or message."""
    script = 'echo "{\\"say\\": \\"$ACME_API_KEY\\", \\"answer\\": \\"$ACME_API_KEY\\"}"; echo "$ACME_API_KEY" >&2'
    execution, events, _ = play(acme(script))
    assert KEY not in execution.model_dump_json() + "".join(event.model_dump_json() for event in events)
    assert execution.text == events[0].text == "[redacted:ACME_API_KEY]"
    failure = play(acme('echo "bad $ACME_API_KEY" >&2; exit 1'))[0].failure
    assert failure is not None
    assert failure.message == "exit code 1 without an event: bad [redacted:ACME_API_KEY]"


def test_relay(acme: Acme, play: Play) -> None:
    """Where the workspace names an address inside, the program gets that and a placeholder."""
    execution, _, watching = play(acme(ANSWER), routes={"acme": "http://127.0.0.1:9"})
    assert execution.text == "done"
    (command,) = watching.commands
    assert command.argv[-1] == "http://127.0.0.1:9"
    assert command.env["ACME_API_KEY"] == PLACEHOLDER


def test_login(acme: Acme, play: Play, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key the one credential file is copied, for nobody else to read, and its secrets are kept out too."""
    monkeypatch.delenv("ACME_API_KEY")
    (user / ".acme").mkdir()
    (user / ".acme/login.json").write_text(json.dumps({"tokens": [{"access": "secret-of-the-login-1"}], "n": 1}))
    (user / ".acme/settings.json").write_text("{}")
    script = """
    ls "$HOME/.acme" >&2; stat -c %a "$HOME/.acme/login.json" >&2
    echo "{\\"answer\\": \\"secret-of-the-login-1\\"}"
    """
    execution, _, watching = play(acme(script))
    assert (execution.stderr or "").split() == ["login.json", "600"]
    assert execution.text == "[redacted:login.json-0]"
    assert "ACME_API_KEY" not in watching.commands[0].env


@pytest.mark.parametrize(
    ("trick", "left"),
    [
        ('echo \'{"access": "renewed-secret-of-the-login"}\' > $HOME/.acme/login.json', None),
        ("rm -r $HOME/.acme", None),
        ("rm -r $HOME/.acme; ln -s $USERS/.acme $HOME/.acme", "secret-of-the-login-1"),
        ("rm $HOME/.acme/login.json; ln -s $USERS/.acme/login.json $HOME/.acme/login.json", None),
        ("rm $HOME/.acme/login.json; mkfifo $HOME/.acme/login.json", None),
    ],
    ids=["renewed", "removed", "folder is a link", "file is a link", "pipe"],
)
def test_a_login_is_taken_back(
    acme: Acme, play: Play, user: Path, monkeypatch: pytest.MonkeyPatch, trick: str, left: str | None
) -> None:
    """After the session the copy is gone, what was renewed is kept out, and the user's own file is never touched."""
    monkeypatch.delenv("ACME_API_KEY")
    monkeypatch.setenv("USERS", str(user))
    (user / ".acme").mkdir()
    (user / ".acme/login.json").write_text('{"access": "secret-of-the-login-1"}')
    answer = 'echo "{\\"answer\\": \\"renewed-secret-of-the-login\\"}"'
    seen: list[str | None] = []
    original = AcmeEngine.read_home

    def look(engine: AcmeEngine, home: Path, transcript: Transcript) -> None:
        path = home / ".acme/login.json"
        seen.append(path.read_text() if path.is_file() else None)
        original(engine, home, transcript)

    monkeypatch.setattr(AcmeEngine, "read_home", look)
    execution, _, _ = play(acme(f"{trick}; {answer}", pass_env=("USERS",)))
    assert execution.failure is None
    assert [left in (text or "") if left else text for text in seen] == [True if left else None]
    assert (execution.text == "renewed-secret-of-the-login") == ("renewed" not in trick)
    assert (user / ".acme/login.json").read_text() == '{"access": "secret-of-the-login-1"}'


def test_a_key_by_descriptor(acme: Acme, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that can read it there gets its key in no environment and argument, and its stdin as it is."""
    monkeypatch.setenv("key", "a variable of this name must not carry it on")
    launch = AcmeEngine.launch

    def by_descriptor(engine: AcmeEngine, *given: Any) -> Launch:
        return replace(launch(engine, *given), environment={}, key=given[-1].key)

    monkeypatch.setattr(AcmeEngine, "launch", by_descriptor)
    script = f"""
    test "$(cat <&{KEY_DESCRIPTOR})" = "{KEY}" || exit 1
    test "$(cat)" = hi || exit 2
    test "$*" = "run --api https://api.acme.example" || exit 3
    cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q "^key=.*{KEY}" && exit 4
    env | grep -q "{KEY}" && exit 5
    {ANSWER}
    exit 6
    """
    execution, _, watching = play(acme(script, pass_env=("key",)))
    assert (execution.text, execution.exit_code) == ("done", 6)
    assert KEY not in f"{watching.commands[0].argv}{watching.commands[0].env}"


def test_a_login_is_for_the_vendor_only(acme: Acme, play: Play, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of the user's own gets a placeholder, and no login."""
    monkeypatch.delenv("ACME_API_KEY")
    (user / ".acme").mkdir()
    (user / ".acme/login.json").write_text("{}")
    script = f'ls -a "$HOME" >&2; {ANSWER}'
    execution, _, watching = play(acme(script, base_url="http://127.0.0.1:9"))
    assert (execution.stderr or "").split() == [".", ".."]
    assert watching.commands[0].env["ACME_API_KEY"] == PLACEHOLDER


def test_a_login_that_cannot_be_copied(acme: Acme, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that already has such a file is not overwritten: a failure of the set-up, with its reason."""
    monkeypatch.delenv("ACME_API_KEY")
    (user / ".acme").mkdir()
    (user / ".acme/login.json").write_text("{}")

    async def main() -> None:
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            (workspace.home / ".acme").mkdir()
            (workspace.home / ".acme/login.json").write_text("other")
            request = RunRequest(trial_id="t", case_id="c", prompt="hi", model=None, limits=Limits())
            failure = (await acme(ANSWER).run(request, workspace, lambda _event: None)).failure
            assert failure is not None
            assert failure.failure_class is FailureClass.SETUP
            assert (workspace.home / ".acme/login.json").read_text() == "other"

    asyncio.run(main())


def test_hopeless_program_is_ended(acme: Acme, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that its transcript gives up on is not waited for."""
    why = failed(FailureClass.NETWORK, "waits for ever")

    class GivenUp(Said):
        hopeless = why

    engine = acme("echo '{\"say\": 1}'; sleep 60")
    monkeypatch.setattr(engine, "transcript", lambda _request: GivenUp())
    execution, _, _ = play(engine)
    assert execution.failure == why


def test_cancelling_ends_the_program(acme: Acme, tmp_path: Path) -> None:
    """Nothing of it is left, grandchildren included."""
    engine = acme(f"sleep 60 & echo $! > '{tmp_path}/pid'; echo '{{\"say\": 1}}'; wait")

    async def main() -> None:
        begun = asyncio.Event()
        async with TemporarySandbox().open(SandboxSpec(label="test")) as workspace:
            request = RunRequest(trial_id="t", case_id="c", prompt="hi", model=None, limits=Limits())
            task = asyncio.ensure_future(engine.run(request, workspace, lambda _event: begun.set()))
            await asyncio.wait_for(begun.wait(), 30)
            task.cancel()
            await asyncio.wait({task}, timeout=30)
            assert task.cancelled()
            assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()

    asyncio.run(main())


class Pausing:
    """A workspace whose relay was asked for a pause."""

    tier = "strict"

    def __init__(self, status: int, left_s: float) -> None:
        self.pause = (status, left_s)


@pytest.mark.parametrize(
    ("kind", "is_explained"),
    [
        (FailureClass.NETWORK, True),
        (FailureClass.SERVER, True),
        (FailureClass.TIMEOUT, True),
        (FailureClass.RATE_LIMITED, True),
        (FailureClass.BUDGET, False),
        (FailureClass.CRASH, False),
        (FailureClass.MAX_TURNS, False),
    ],
)
def test_a_pause_explains_some_failures(kind: FailureClass, is_explained: bool) -> None:
    """A program that could not go on without its model failed because of the pause; any other failure stays."""
    execution = Execution(failure=failed(kind, "it says so"))
    failure = with_pause(execution, cast(Any, Pausing(429, 120))).failure
    assert failure is not None
    assert (failure.failure_class is FailureClass.RATE_LIMITED and failure.retry_after_s == 120) is is_explained
    assert failure.message.endswith("it says so")
    assert failure.blame is (Blame.AGENT_LIMIT if kind is FailureClass.MAX_TURNS else Blame.INFRASTRUCTURE)


def test_a_pause_fails_no_session_that_went_well() -> None:
    """An answer is an answer, whatever the API said to a request beside it."""
    execution = Execution(text="done")
    assert with_pause(execution, cast(Any, Pausing(429, 3600))) == execution
    assert with_pause(execution, cast(Any, object())) == execution
