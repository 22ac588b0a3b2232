"""Events on stderr: how loud they must be, what they hold, and who reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from skillgauge.log import configure, get_logger

PROGRAM = """
import sys
from skillgauge.log import configure, get_logger
log = get_logger("skillgauge.somewhere")
{steps}
"""


def clean_environment() -> dict[str, str]:
    """What an interpreter needs to start and to find this package, and no setting that could change what it says."""
    return {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "PYTHONPATH") if name in os.environ}


def child(*steps: str) -> list[str]:
    """The lines on stderr of a fresh interpreter that runs some steps."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(steps="\n".join(steps))],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=True,
    )
    assert done.stdout == ""  # which belongs to reports
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    "steps",
    [
        (),
        ('log.debug("a.b", x=1)', 'log.info("a.b")', 'log.warning("a.b")'),
        ("configure(verbose=False)", 'log.debug("a.b")', 'log.info("a.b")'),
        ("configure(verbose=False, quiet=True)", 'log.warning("a.b")'),
        ("configure(verbose=True, quiet=True)", 'log.debug("a.b")', 'log.warning("a.b")'),
    ],
    ids=["import", "unconfigured", "default", "quiet", "quiet and verbose"],
)
def test_what_is_not_loud_enough_is_not_written(steps: tuple[str, ...]) -> None:
    """Events below the threshold say no word."""
    assert child(*steps) == []


@pytest.mark.parametrize(
    ("steps", "levels"),
    [
        (('log.error("a.b")',), ["error"]),
        (("configure(verbose=False)", 'log.warning("a.b")', 'log.error("a.b")'), ["warning", "error"]),
        (("configure(verbose=False, quiet=True)", 'log.warning("a.b")', 'log.error("a.b")'), ["error"]),
        (
            (
                "configure(verbose=True)",
                'log.debug("a.b")',
                'log.info("a.b")',
                'log.warning("a.b")',
                'log.error("a.b")',
            ),
            ["debug", "info", "warning", "error"],
        ),
    ],
    ids=["unconfigured", "default", "quiet", "verbose"],
)
def test_what_is_loud_enough_is_written_to_stderr(steps: tuple[str, ...], levels: list[str]) -> None:
    """One line of JSON per event where no terminal is, with its level."""
    lines = child(*steps)
    assert [json.loads(line)["level"] for line in lines] == levels


def test_an_event_has_a_name_facts_and_a_time() -> None:
    """Facts are keys that a program can read; the time is UTC."""
    (line,) = child('log.error("trial.finished", trial_id="t1", duration_s=0.5, note="é")')
    event = json.loads(line)
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "trial.finished",
        "level": "error",
        "logger": "skillgauge.somewhere",
        "trial_id": "t1",
        "duration_s": 0.5,
        "note": "é",
    }


@pytest.mark.parametrize("verbose", [True, False])
def test_an_exception_is_written_with_its_trace_for_developers(verbose: bool) -> None:
    """Isolation points log what they contain; a terminal shows the traceback only to those who ask for it."""
    steps = ["try:", "    1 / 0", "except ZeroDivisionError:", '    log.error("x.y", exc_info=True)']
    (line,) = child(f"configure(verbose={verbose})", *steps)
    told = json.loads(line).get("exception", "")
    assert ("ZeroDivisionError: division by zero" in told) is verbose


def test_people_and_programs() -> None:
    """Who asks for JSON gets it, who does not gets lines; what the display of a run tells is not told twice."""
    steps = ("log.debug('agent.event', text='hello')", "log.debug('a.b', text='hello')")
    told = child("configure(verbose=True, as_json=False)", *steps)
    assert len(told) == 1
    assert "text=hello" in told[0]
    events = [json.loads(line) for line in child("configure(verbose=True, as_json=True)", *steps)]
    assert [(event["event"], event["text"]) for event in events] == [("agent.event", "hello"), ("a.b", "hello")]


def test_a_fact_that_is_no_json_is_written_as_its_representation() -> None:
    """Whatever a plugin tells, the line is there."""
    (line,) = child('log.error("x.y", fact={1, 2})')
    assert json.loads(line)["fact"] == "{1, 2}"


def test_the_threshold_can_be_changed_later() -> None:
    """Loggers are made when modules are imported, before anybody knows how loud it shall be."""
    lines = child(
        'log.info("not.this")',
        "configure(verbose=True)",
        'log.info("but.this")',
        "configure(verbose=False, quiet=True)",
        'log.warning("nor.this")',
    )
    assert [json.loads(line)["event"] for line in lines] == ["but.this"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals there")
def test_on_a_terminal_events_are_written_for_people() -> None:
    """Without JSON and without colours, which a log must not depend on."""
    import pty  # noqa: PLC0415 - it does not exist everywhere

    ours, theirs = pty.openpty()
    try:
        program = PROGRAM.format(steps='log.error("trial.finished", trial_id="t1")')
        command, env = [sys.executable, "-c", program], clean_environment()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, env=env, check=True)
        text = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "trial.finished" in text
    assert "trial_id=t1" in text
    assert "{" not in text
    assert "\x1b" not in text


@pytest.fixture
def restored() -> Iterator[None]:
    """Leave the process as loud as it was before anybody configured it."""
    yield
    configure(verbose=False, quiet=True)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize(
    ("verbose", "quiet", "heard"),
    [
        (False, True, ["error"]),
        (False, False, ["warning", "error"]),
        (True, False, ["debug", "info", "warning", "error"]),
        (True, True, ["error"]),
    ],
)
def test_each_level_is_heard_from_its_threshold_on(
    capsys: pytest.CaptureFixture[str], verbose: bool, quiet: bool, heard: list[str]
) -> None:
    """Quiet goes before verbose; facts and names arrive unchanged."""
    configure(verbose=verbose, quiet=quiet)
    log = get_logger("skillgauge.tests")
    for level in ("debug", "info", "warning", "error"):
        getattr(log, level)("x.y", fact=level)
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(event["event"], event["fact"], event["level"]) for event in events] == [
        ("x.y", level, level) for level in heard
    ]


def test_secrets_are_kept_out_of_every_event() -> None:
    """Out of facts, and out of what an exception says."""
    steps = [
        "from skillgauge.log import keep_out",
        "from skillgauge_documents.redaction import Redactor",
        "redactor = Redactor()",
        "redactor.register('KEY', 'sk-canary-0123')",
        "keep_out(redactor.redact)",
        "configure(verbose=True)",
        "log.debug('a.b', said='sk-canary-0123', inner={'sk-canary-0123': [1]})",
        "try:",
        "    raise ValueError('bad sk-canary-0123')",
        "except ValueError:",
        "    log.warning('a.c', exc_info=True)",
    ]
    first, second = child(*steps)
    assert json.loads(first)["said"] == "[redacted:KEY]"
    assert "bad [redacted:KEY]" in json.loads(second)["exception"]
    assert "canary" not in first + second.replace("raise ValueError('bad sk-canary-0123')", "")
