"""Files of comparisons that are spoiled a little, by number: each is read, or refused with its place, and nothing runs.

Those of eval.yaml are in `test_skillevaluation.py`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import Done, Program

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

MUTANTS = 100
SKILL = "---\nname: sums\ndescription: Adds numbers. Use when numbers are to be added.\n---\n\nAdd.\n"
EVAL_YAML = 'cases: [{name: a, prompt: "Add 2 and 3.", validators: [{cmd: grep -q 5 response.txt}], tags: [b]}]\n'
EVALS = {
    "version": "1",
    "skill_name": "sums",
    "defaults": {"timeout_sec": 60},
    "cases": [
        {"id": "a", "question": "Add 2 and 3.", "ground_truth": "5", "environment": {"PLACE": "here"}},
        {"question": "Add 3 and 4.", "ground_truth": "7", "expected_script": "add.py"},
    ],
}
MANIFEST = {"name": "agent", "version": "1.0.0", "evaluation": {"gates": [{"name": "other", "threshold": 0.5}]}}
ODD = (None, True, 7, -1, 1.5, 10**400, "", "x", "\ud83d\ude00", [], {}, [[]], ["a", 1], {"a": [None]})


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder of a value below this one, with its key there."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from spots(inner)


def mutant(document: Any, seed: str) -> bytes:
    """One change: in the values, in the text, or in the bytes."""
    rng = random.Random(seed)
    value = json.loads(json.dumps(document))
    holder, key = rng.choice(list(spots(value)))
    kind = rng.choice(["drop", "rename", "retype", "retype", "double", "text", "text", "bytes", "top"])
    if kind == "drop":
        del holder[key]
    elif kind == "rename" and isinstance(holder, dict):
        holder[f"{key}x"] = holder.pop(key)
    elif kind == "retype":
        holder[key] = rng.choice(ODD)
    elif kind == "top":
        value = rng.choice([[value], "text", 7, None, {}, {"cases": value}])
    text = json.dumps(value, indent=1)
    if kind == "double" and isinstance(key, str):
        text = text.replace(f'"{key}":', f'"{key}": 1, "{key}":', 1)
    elif kind == "text":
        at = rng.randrange(len(text))
        put = rng.choice(["", "\0", "NaN", "Infinity", "1e999", "[" * 3000, '"', "}", ",", "9" * 5000, "\\u12", "\t"])
        text = text[:at] + put + text[at + rng.randrange(2) :]
    data = text.encode("utf-8", "surrogatepass")
    if kind == "bytes":
        whole = [text.encode("utf-16"), b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data[: len(data) // 2]]
        at = rng.randrange(len(data))
        data = rng.choice([*whole, data[:at] + b"\xff" + data[at:]])
    return data


def refused(done: Done, file: Path, told: str) -> bool:
    """Whether it was refused; then each error has its line and column in the file, and none is our own fault."""
    assert done.code in (0, 2, 3), (told, done.stdout, done.stderr)
    if done.code != 2:
        assert "internal" not in done.stderr, (told, done.stderr)
        return False
    errors = [one for one in done.document["problems"] if one["severity"] == "error"]
    assert errors, told
    for one in errors:
        assert one["file"], (told, one)
        assert (file.parent / one["file"]).resolve() == file.resolve(), (told, one)
        assert all((one["line"], one["column"])), (told, one)
    return True


@pytest.fixture
def skill(work: Path) -> Path:
    """A skill that both formats evaluate, each by its file."""
    root = work / "sums"
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text(SKILL)
    return root


def test_evals_of_benchflow(program: Program, work: Path, skill: Path) -> None:
    """A dry run and a run say the same, and the run leaves nothing behind."""
    file, count = skill / "evals/evals.json", 0
    for number in range(MUTANTS):
        data = mutant(EVALS, f"evals {number}")
        file.write_bytes(data)
        if refused(program("eval", file, "--engine", "mock", "--dry-run", "--json"), file, repr(data)):
            count += 1
            assert refused(program("eval", file, "--engine", "mock", "--json"), file, repr(data))
            assert not (work / "reports").exists()
            assert not (work / "skillgauge.db").exists()
    assert count >= MUTANTS // 2


Make = Callable[[Program, Path], Path]


def results(program: Program, skill: Path) -> Path:
    """A result document of skillevaluation."""
    (skill / "eval.yaml").write_text(EVAL_YAML)
    return written(program, skill / "eval.yaml")


def lift(program: Program, skill: Path) -> Path:
    """A result document of BenchFlow."""
    (skill / "evals/evals.json").write_text(json.dumps(EVALS))
    return written(program, skill / "evals/evals.json")


def written(program: Program, suite: Path) -> Path:
    """The document of a run of a suite."""
    reply = '[{"skill": "sums", "text": "5"}, {"text": "6"}]'
    replies = ("--set", f"engines.mock.replies={reply}")
    done = program("eval", suite, "--engine", "mock", *replies, "-o", "own.json", "--format", "benchflow-jobs")
    assert done.code == 0, done.stderr
    return program.work / "own.json"


def rollout(program: Program, skill: Path) -> Path:
    """A result in the tree of a run."""
    lift(program, skill)
    return sorted((program.work / "reports").rglob("result.json"))[0]


@pytest.mark.parametrize("make", [results, lift, rollout], ids=["results", "lift", "rollout"])
def test_results_that_are_read(program: Program, skill: Path, make: Make) -> None:
    """They are shown, or refused with the place of everything that is wrong."""
    file = make(program, skill)
    original = json.loads(file.read_text())
    shown = file if make is not rollout else file.parents[4]
    assert program("report", "show", shown).code == 0
    count = 0
    for number in range(MUTANTS):
        data = mutant(original, f"{make.__name__} {number}")
        file.write_bytes(data)
        count += refused(program("report", "show", shown, "--json"), file, repr(data[:3000]))
    assert count >= MUTANTS // 10


def test_manifests_that_get_a_gate(program: Program, work: Path, skill: Path) -> None:
    """What cannot take a gate is refused with its place and stays as it is, to the byte."""
    enter = ("report", "convert", "--input", str(results(program, skill)), "--format", "agentversion")
    file, count = work / "agent.json", 0
    for number in range(MUTANTS):
        data = mutant(MANIFEST, f"manifest {number}")
        file.write_bytes(data)
        if refused(program(*enter, "--into", "agent.json", "--json"), file, repr(data)):
            count += 1
            assert file.read_bytes() == data
    assert count >= MUTANTS // 5
