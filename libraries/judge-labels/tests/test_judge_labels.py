"""The file of labels: what is added is read back, and what is no label is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api.report import GroupKey
from skillgauge_judge_labels import (
    Grader,
    Judged,
    append,
    by_key,
    label_of,
    labels_so_far,
    mismatches,
    read_labels,
    without_label,
)

GRADER = Grader(judges=("judge m-1",), models=("m-1",), scorer="rubric 5", prompt="a", rubric="b")
CHECKS = [
    Judged(
        GroupKey(suite_id="suite", target_id="skill", arm="with_skill", runner="agent", model="m-1"),
        f"case-{number}",
        f"execution-{number}",
        "greets",
        "digest",
        bool(number % 2),
        GRADER,
        ordinal=number,
    )
    for number in range(20)
]


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    """Each label is a line; a last line without its end gets one first."""
    file = tmp_path / "folder/labels.jsonl"
    assert labels_so_far(file) == ([], [])
    for check in CHECKS[:2]:
        append(file, label_of("run", check, passes=True))
        file.write_bytes(file.read_bytes().rstrip(b"\n"))
    append(file, label_of("run", CHECKS[2], passes=False))
    lines, problems = read_labels(file)
    assert problems == mismatches(lines, CHECKS) == []
    assert by_key(lines) == {CHECKS[0].key: True, CHECKS[1].key: True, CHECKS[2].key: False}
    assert [line.span.line for line in lines] == [1, 2, 3]


def test_the_order_is_random_and_the_same(tmp_path: Path) -> None:
    """A check with a label is left out and moves no other; another run is asked in another order."""
    order = without_label(CHECKS, {}, 7)
    assert sorted(order, key=CHECKS.index) == CHECKS != order
    assert without_label(CHECKS[::-1], {order[3].key: True}, 7) == [*order[:3], *order[4:]]
    assert without_label(CHECKS, {}, 8) != order


@pytest.mark.parametrize(("content", "code"), [("", "judge.no-labels"), ("{}\nx\n", "judge.label")])
def test_what_is_no_label(tmp_path: Path, content: str, code: str) -> None:
    """Every such line is named; an empty file is none to read, and one to begin with."""
    file = tmp_path / "labels.jsonl"
    file.write_text(content)
    _, problems = read_labels(file)
    assert {problem.code for problem in problems} == {code}
    assert len(problems) == max(1, content.count("\n"))
    assert len(labels_so_far(file)[1]) == content.count("\n")
