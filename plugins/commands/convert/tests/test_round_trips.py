"""There and back, over all pairs of formats: what is not what it was is named in one of the two reports."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillgauge.api import Case, Check, FileSpec, SkillgaugeError, Suite
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_command_convert.converting import convert
from skillgauge_command_convert.differences import EVERY_CASE

from .test_convert import CALCULATOR, FORMATS, assertions, cases, make_skill, suite_of

SHAPES = Path(__file__).parents[3] / "formats/agent-skills/tests/data/shapes"
PACKAGE = Path(__file__).parents[3] / "formats/uaaps/tests/data/word-tools"
LOADED = sorted({one.name for one in SHAPES.iterdir()} - {"choir-rota", "weather-page"})
"""The others are refused by their place."""
RENAMED = "checks go by other names"
EMPTY: tuple[object, ...] = (None, (), "", {})
TRIGGERS: Mapping[str, object] = {
    "list": [
        {"query": "a?", "should_trigger": True, "split": "train"},
        {"id": 7, "query": "b?", "should_trigger": False},
    ],
    "sides": {"skill_name": "greet", "should_trigger": ["a?"], "should_not_trigger": [{"prompt": "b?", "reason": "r"}]},
    "splits": {
        "train": [{"query": "a?", "should_trigger": True}],
        "test": [{"query": "b?", "should_trigger": False, "expected_skill": "other"}],
    },
    "words": {
        "skill": "greet",
        "cases": [{"input": "a?", "expected": "trigger"}, {"input": "b?", "expected": "no-use"}],
    },
}
WORDS: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "description": ("description",),
    "prompt": ("prompt",),
    "arm_prompts": ("prompt",),
    "input": ("input",),
    "tags": ("tag",),
    "cluster": ("cluster",),
    "files": ("files",),
    "image_files": ("image",),
    "setup_files": ("setup",),
    "grader_files": ("grader",),
    "setup": ("setup",),
    "env": ("env",),
    "pass_env": ("env",),
    "rule": ("rule",),
    "weight": ("weight",),
    "limits": ("limit",),
    "network": ("network",),
    "skip": ("skip",),
    "targets": ("targets",),
}
"""Fields of a case, with a word by which a report has to name each."""


@pytest.fixture(scope="module")
def call() -> Invocation:
    """The command line's view of what is installed, made once: it does not change."""
    return invocation(Globals())


@pytest.mark.slow
@pytest.mark.parametrize("first", FORMATS)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_some_pairs(first: str, data: st.DataObject, call: Invocation) -> None:
    """Small suites of one format, to some other and back."""
    there_and_back(call, data, first, data.draw(st.sampled_from(FORMATS)))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), list(itertools.product(FORMATS, repeat=2)))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_all_pairs(first: str, second: str, data: st.DataObject, call: Invocation) -> None:
    """The same for each pair."""
    there_and_back(call, data, first, second)


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("name", LOADED)
def test_public_shapes(name: str, second: str, call: Invocation, tmp_path: Path) -> None:
    """Every shape that people publish, to every format and back."""
    folder = tmp_path / name
    shutil.copytree(SHAPES / name, folder)
    if not (folder / "SKILL.md").is_file():
        (folder / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Does what it is called after.\n---\nDo it.\n"
        )
    suites = call.suites(folder).suites
    assert suites
    for number, suite in enumerate(suites):
        compare(call, suite, second, tmp_path / f"{number}")


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("shape", TRIGGERS)
def test_shapes_of_trigger_sets(shape: str, second: str, call: Invocation, tmp_path: Path) -> None:
    """What a skill is expected to fire for, with splits and reasons."""
    skill = make_skill(tmp_path)
    (skill / "evals/evals.json").unlink()
    (skill / "evals/trigger-eval.json").write_text(json.dumps(TRIGGERS[shape]))
    (suite,) = call.suites(skill).suites
    compare(call, suite, second, tmp_path / "pair")


@pytest.mark.parametrize("second", FORMATS)
def test_a_package(second: str, call: Invocation, tmp_path: Path) -> None:
    """Evals of a package with hooks, agents and servers."""
    (suite,) = call.suites(PACKAGE, suite_format="uaaps").suites
    compare(call, suite, second, tmp_path)


def there_and_back(call: Invocation, data: st.DataObject, first: str, second: str) -> None:
    """A suite as one format has it, written in another and back."""
    made = tuple(data.draw(cases(number)) for number in range(data.draw(st.integers(1, 3))))
    made = tuple(case.model_copy(update={"prompt": f"{case.prompt} {case.id}"}) for case in made)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        neutral = suite_of(first, make_skill(folder), made)
        own = step(call, neutral, first, folder / "own")
        if own[0] is not None:
            compare(call, own[0], second, folder)


def compare(call: Invocation, suite: Suite, second: str, folder: Path) -> None:
    """Convert there and back; every difference has a name."""
    there, losses = step(call, suite, second, folder / "there")
    if there is None:
        return
    back, more = step(call, there, suite.format, folder / "back")
    if back is None:
        return
    named = [*losses, *more]
    for case in suite.cases:
        mine, other = (by_prompt(one.cases, case) for one in (back, there))
        ids = {case.id, *(one.id for one in (mine, other) if one is not None)}
        told = [one for one in named if one.startswith((EVERY_CASE, RENAMED, *(f"case {name!r}" for name in ids)))]
        lost = [one for one in differences(call, case, mine) if not any(word in text for text in told for word in one)]
        assert not lost, f"{suite.format} to {second} and back: {case.id!r}: {lost} not in {told}"


def step(call: Invocation, suite: Suite, name: str, folder: Path) -> tuple[Suite | None, list[str]]:
    """A suite in a format, read from its files, with the losses; `None` if nothing is written or can be read alone."""
    made = convert(call, suite, name, call.suite_format(name))
    losses = [one.message for one in made.losses]
    if made.refusals:
        assert all(one.message for one in made.refusals)
        return None, losses
    place = folder / "greet"
    for path, content in made.files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    try:
        roots = [CALCULATOR] if name == "eval-skills" else []
        suites = call.suites(place, *roots, suite_format=name).suites
    except SkillgaugeError:
        suites = ()
    compared = [one for one in losses if "not compared" in one]
    assert bool(compared) or len(suites) == 1
    return (None if compared else suites[0]), losses


def by_prompt(there: Iterable[Case], case: Case) -> Case | None:
    """The case that asks the same, else the one of the same id."""
    found = list(there)
    same = [one for one in found if case.prompt is not None and one.prompt == case.prompt]
    return next(iter([*same, *(one for one in found if one.id == case.id)]), None)


def differences(call: Invocation, was: Case, now: Case | None) -> Iterator[tuple[str, ...]]:
    """For each thing that is not what it was the words of which the report has to have one."""
    if now is None:
        yield ("left out", "is gone")
        return
    if was.id != now.id:
        yield ("called", "id:")
    for field, words in WORDS.items():
        before, after = (getattr(case, field) for case in (was, now))
        if field.endswith("files"):
            before, after = contents(before), contents(after)
        if before != after:
            yield words
    kept = assertions(call, now)
    for check in was.checks:
        if assertions(call, was.model_copy(update={"checks": (check,)}))[0] not in kept:
            yield (repr(check.id), f"'assertions.{check.id}' is not kept", "weights")
    for path, value in extras(was):
        if (path, value) not in [*extras(now)] and not restates(call, was, (path[-1], value), now):
            yield (repr(".".join(path)), repr(path[-1]))


def restates(call: Invocation, case: Case, entry: tuple[str, object], now: Case) -> bool:
    """Tell whether an entry is a check in the words of its file, under a name that its format made up, and is kept."""
    name, value = entry
    check = next((check for check in case.checks if check.id == name), None)
    if check is None or not isinstance(value, Mapping) or name in value.values():
        return False
    options = check.options.values()
    said = [*options, *(part for option in options if isinstance(option, tuple) for part in option)]
    (alone,) = assertions(call, without_weights(case, check))
    is_kept = alone in assertions(call, without_weights(now, *now.checks))
    return is_kept and all(key == "type" or part in said for key, part in value.items())


def without_weights(case: Case, *checks: Check) -> Case:
    """A case with these checks, whose weights are told apart from what they assert."""
    return case.model_copy(update={"checks": tuple(check.model_copy(update={"weight": 1.0}) for check in checks)})


def contents(files: Sequence[FileSpec]) -> list[tuple[str, bool, bytes]]:
    """Files as a workspace gets them."""
    return sorted(
        (file.path, file.executable, Path(file.source).read_bytes() if file.source else (file.text or "").encode())
        for file in files
    )


def extras(case: Case) -> Iterator[tuple[tuple[str, ...], object]]:
    """What a case says beyond the model, by key."""
    for key, value in case.extras.items():
        if isinstance(value, Mapping):
            yield from (((key, name), part) for name, part in value.items() if part not in EMPTY)
        elif value not in EMPTY:
            yield (key,), value
