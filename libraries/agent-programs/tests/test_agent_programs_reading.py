"""Pure parts: lines, kept streams, failures, skills, what a home holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge.api import EventKind, FailureClass, FiredSkill, Trajectory, TrajectoryEvent
from skillgauge_agent_programs.credentials import Key
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.homes import files_in, lines_of
from skillgauge_agent_programs.json_lines import bounded, bounded_text, count_at, dig, items_at, parse_line, text_at
from skillgauge_agent_programs.programs import passed_environment
from skillgauge_agent_programs.raw import RawStream
from skillgauge_agent_programs.skills import EXPLICIT, INVOKED, READ, FiredSkills, came_back, skill_of_file, with_reads


@given(st.binary())
def test_no_line_makes_parsing_raise(line: bytes) -> None:
    """A line is an object or nothing."""
    found = parse_line(line)
    assert found is None or json.dumps(found)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.booleans())))
def test_an_object_comes_back(value: dict[str, object]) -> None:
    """What is written as JSON is read as it was."""
    found = parse_line(json.dumps(value).encode())
    assert json.loads(json.dumps(found)) == value


def test_paths_into_an_object() -> None:
    """What is not there, or is something else, is nothing."""
    record = parse_line(b'{"a": {"b": ["x", 1, true]}, "n": 3, "f": true, "s": "t"}')
    assert text_at(record, "s") == "t"
    assert (text_at(record, "n"), text_at(record, "s", "x"), dig(record, "a", "c")) == (None, None, None)
    assert (count_at(record, "n"), count_at(record, "f"), count_at(record, "s")) == (3, None, None)
    assert items_at(record, "a", "b") == ("x", 1, True)
    assert items_at(record, "s") == ()


@given(st.text(min_size=200), st.integers(2, 100))
def test_long_texts_are_cut_in_the_middle(text: str, limit: int) -> None:
    """Beginning and end stay, and the cut is told."""
    cut = bounded_text(text, limit)
    half = limit // 2
    assert cut.startswith(text[:half])
    assert cut.endswith(text[-half:])
    assert f"{len(text) - 2 * half} characters left out" in cut
    assert bounded_text(text, len(text)) == text
    assert bounded({"a": (text, 1)}) == {"a": (text, 1)}


@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=60), st.integers(10, 400))
def test_a_kept_stream_has_its_ends(lines: list[bytes], limit: int) -> None:
    """Within the limit all lines are there; beyond it the first and the last, in their order, never a part of one."""
    raw = RawStream(limit)
    for line in lines:
        raw.add(line)
    kept = raw.text().split("\n")[:-1]
    whole = [line.decode("utf-8", "replace") for line in lines]
    if raw.lines_left_out == 0:
        assert kept == whole
        return
    (at,) = [index for index, line in enumerate(kept) if line.startswith('{"type": "skillgauge.left_out"')]
    head, tail = kept[:at], kept[at + 1 :]
    assert head == whole[: len(head)]
    assert tail == whole[len(whole) - len(tail) :]
    assert len(head) + len(tail) + raw.lines_left_out == len(whole)


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (401, "", FailureClass.AUTH),
        (429, "", FailureClass.RATE_LIMITED),
        (429, "insufficient_quota", FailureClass.BUDGET),
        (400, "your prompt is too long", FailureClass.CONTEXT_TOO_LONG),
        (400, "rate limit", FailureClass.BAD_REQUEST),
        (500, "", FailureClass.SERVER),
        (529, "", FailureClass.OVERLOADED),
        (418, "", FailureClass.BAD_REQUEST),
        (502, "", FailureClass.SERVER),
        (502, "relay: the API cannot be reached (ConnectError)", FailureClass.NETWORK),
    ],
)
def test_classes_of_statuses(status: int, text: str, kind: FailureClass) -> None:
    """A status tells the class; for some the text decides."""
    assert class_of_status(status, text) is kind


def test_classes_of_texts() -> None:
    """Words tell where nothing else does, or they tell nothing."""
    assert class_of_text("connect ECONNREFUSED 127.0.0.1") is FailureClass.NETWORK
    assert class_of_text("Not logged in") is FailureClass.AUTH
    assert class_of_text("terminated") is FailureClass.NETWORK
    assert class_of_text("it rained until the child was terminated") is None


@given(st.sampled_from(FailureClass), st.text())
def test_failures_never_blame_the_skill(kind: FailureClass, message: str) -> None:
    """A session's failure is the agent's limit or infrastructure, and has a message."""
    failure = failed(kind, message, retry_after_s=3)
    assert failure.blame != "target"
    assert failure.message
    assert failure.retry_after_s == (3 if failure.retryable else None)


LONG = (
    "---\nname: pdf\ndescription: All about PDF.\n---\n# Usage\n\n" + "Fill the form, field by field, and say so. " * 5
)
SHORT = "---\nname: pdf\n---\n# Greeting\nSay ZEBRA.\n"


@pytest.mark.parametrize(
    ("text", "answer", "is_back"),
    [
        (LONG, LONG, True),
        (LONG, "".join(f"{n:6}\t{line}\n" for n, line in enumerate(LONG.splitlines(), 1)), True),
        (LONG, LONG[:150], True),
        (LONG, "name: pdf\ndescription: All about PDF.\n", False),
        (LONG, "# Usage\n", False),
        (LONG, ".claude/skills/pdf/SKILL.md", False),
        (LONG, "", False),
        (SHORT, "# Greeting\n", True),
        (SHORT, '{"output":"# Greeting\\nSay ZEBRA.\\n"}', True),
        ('Say "hello", loud and clear.', '{"output":"Say \\"hello\\", loud and clear.\\n"}', True),
        ("---\nname: nothing-else\n---\n", "name: nothing-else\n", True),
        ("", "anything", False),
        ("ok\n", "ok", True),
    ],
)
def test_what_came_back_of_a_file(text: str, answer: str, is_back: bool) -> None:
    """Lines below the front matter tell; a heading that others have as well, or a name, does not."""
    assert came_back(text, answer) is is_back


@given(st.text(), st.text())
def test_looking_for_a_file_never_raises(text: str, answer: str) -> None:
    """Nothing of an empty answer has come back."""
    came_back(text, answer)
    assert not came_back(text, "")


def test_what_is_known_of_reading() -> None:
    """The text of one skill that is unknown makes unknown what was not read; one that a tool loaded is not read too."""
    said = (TrajectoryEvent(kind=EventKind.TOOL_RESULT, text=LONG), TrajectoryEvent(kind=EventKind.MESSAGE, text=SHORT))
    invoked, read = FiredSkill(name="pdf", how=INVOKED), FiredSkill(name="pdf", how=READ)

    def fired(known: tuple[FiredSkill, ...] | None, **texts: str | None) -> tuple[FiredSkill, ...] | None:
        return with_reads(Trajectory(events=said, skills_fired=known), texts).skills_fired

    assert fired((), pdf=LONG) == (read,)
    assert fired(None, pdf=LONG) == (read,)
    assert fired((invoked,), pdf=LONG) == (invoked,)
    assert fired((), pdf=SHORT) == ()
    assert fired(None, pdf=SHORT) is None
    assert fired((), pdf=None) is None
    assert fired((invoked,), pdf=None) == (invoked,)
    assert fired(()) == ()


def test_the_skill_of_a_file() -> None:
    """It is the SKILL.md in the folder of one that there is."""
    assert skill_of_file("/w/skills/pdf/SKILL.md", ["pdf"]) == "pdf"
    assert skill_of_file("/w/skills/pdf/notes.md", ["pdf"]) is None
    assert skill_of_file("/w/skills/x/SKILL.md", ["pdf"]) is None


def test_skills_fire_once_each_way() -> None:
    """The order is that in which they fired."""
    fired = FiredSkills()
    for name, how in (("a", READ), ("b", EXPLICIT), ("a", READ), ("a", EXPLICIT)):
        fired.add(name, how)
    assert fired.all == tuple(
        FiredSkill(name=name, how=how) for name, how in (("a", READ), ("b", EXPLICIT), ("a", EXPLICIT))
    )


def test_files_of_a_home(tmp_path: Path) -> None:
    """Links out of a home are not followed, and what is no file is not read."""
    home, outside = tmp_path / "home", tmp_path / "secret.jsonl"
    (home / "s/deep").mkdir(parents=True)
    outside.write_text("secret\n")
    (home / "s/b.jsonl").write_text("1\n2\n3")
    (home / "s/a.jsonl").symlink_to(outside)
    (home / "t").symlink_to(tmp_path)
    os.mkfifo(home / "s/c.jsonl")
    found = files_in(home, "*/*.jsonl")
    assert [path.name for path in found] == ["b.jsonl"]
    assert list(lines_of(found[0])) == [b"1\n", b"2\n", b"3"]
    assert list(lines_of(found[0], limit=1)) == [b"1\n"]
    for other in ("s/a.jsonl", "s/c.jsonl", "s/none.jsonl"):
        assert list(lines_of(home / other)) == []
    assert files_in(tmp_path / "none", "*") == ()


def test_keys_that_cannot_be_used() -> None:
    """Too short to be kept out of results, or not fit for a header; the value is in no message."""
    for value in ("abc", "key with spaces", "schlüssel-0123"):
        (problem,) = Key("ACME_API_KEY", value).problems()
        assert value not in problem.message
    assert Key("ACME_API_KEY", "good-key-0123").problems() == ()
    assert "good-key" not in repr(Key("ACME_API_KEY", "good-key-0123"))


def test_a_proxy_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a proxy is passed on, addresses of this machine are taken out of it, beside what the user took out."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    monkeypatch.setenv("NO_PROXY", "corp.example")
    monkeypatch.setenv("OTHER", "x")
    assert passed_environment(("OTHER", "ABSENT")) == {"OTHER": "x"}
    assert passed_environment(("HTTPS_PROXY",))["NO_PROXY"] == "corp.example,127.0.0.1,localhost,::1"
