"""A suite made of what two formats can hold comes back equal from either of them, with nothing reported as lost."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from skillgauge.api import (
    Arm,
    ArmKind,
    Case,
    Check,
    Comparison,
    Suite,
    Target,
    VerdictMode,
    VerdictRule,
    canonical_json,
    freeze,
    thaw,
)
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_assertions import DEFAULTS
from skillgauge_command_convert.converting import Converted, convert
from skillgauge_skill_folders import skill_ref

from .kinds_of_checks import BESIDE, HELD, KINDS, ONE_JUDGED, RULED, TOGETHER, WEIGHTS, page

CALCULATOR = Path(__file__).parents[2] / "examples/skills/calculator"
DIALECTS = Path(__file__).parents[2] / "docs/dialects.md"
DIRECT = "eval-skills"
"""The format whose tasks call a skill directly, each with one check."""
AGENTS = sorted(HELD.keys() - RULED - {DIRECT})
SKILL = "---\nname: greet\ndescription: Greets people by name when asked to say hello.\n---\nSay hello.\n"
WORDS = st.text(alphabet="abcXYZ é.'\"-", min_size=1, max_size=8).map(str.strip).filter(bool)
SHARE = VerdictRule(mode=VerdictMode.MEAN, threshold=0.75)


@pytest.fixture(scope="module")
def call() -> Invocation:
    """The command line's view of what is installed, made once: it does not change."""
    return invocation(Globals())


def test_every_format_is_in_the_table(call: Invocation) -> None:
    """A format that comes later is checked as all others are."""
    assert set(HELD) == set(call.registry.names("formats"))


@pytest.mark.parametrize("scorer", sorted(DEFAULTS))
def test_formats_know_the_defaults_of_scorers(scorer: str, call: Invocation) -> None:
    """The options that writers leave out hold anyway, by the scorer's own word."""
    model = call.registry.options_model("scorers", scorer)
    assert model is not None
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    for key, value in DEFAULTS[scorer].items():
        assert freeze(fields[key].get_default(call_default_factory=True)) == value, key


def test_the_page_shows_the_table() -> None:
    """What people read of conversions is what is tested here."""
    text = DIALECTS.read_text(encoding="utf-8")
    start, end = "<!-- held: written by tests/conformance/kinds_of_checks.py -->", "<!-- end of held -->"
    assert text.partition(start)[2].partition(end)[0].strip() == page()


@pytest.mark.parametrize("name", sorted(HELD))
def test_what_each_format_holds(name: str, call: Invocation, tmp_path: Path) -> None:
    """Each kind of check comes back as it was where the table says so; of every other kind a loss is reported."""
    cases = tuple(_case(kind, (_check(kind, kind, ("Ab", "c d")),), name) for kind in KINDS)
    made, read = _converted(call, _suite(name, tmp_path, cases), name, tmp_path / "there")
    by_id = {case.id: case for case in read.cases}
    for case in cases:
        mine = _meanings(call, by_id[case.id].checks) if case.id in by_id else []
        is_held = all(meaning in mine for meaning in _meanings(call, case.checks[:1]))
        losses = [one.message for one in made.losses if _is_about(one.message, case)]
        assert is_held is (case.id in HELD[name]), f"{case.id} in {name}: {losses or 'nothing is reported'}"
        assert is_held is not bool(losses), f"{case.id} in {name}: {losses or 'nothing is reported'}"


@pytest.mark.parametrize("name", AGENTS)
def test_texts_as_they_stand(name: str, call: Invocation, tmp_path: Path) -> None:
    """Signs of templates, of YAML and of shells in a text are looked for, and not obeyed."""
    kind = "contains" if "contains" in HELD[name] else "claim"
    cases = tuple(
        Case(id=f"case-{number}", prompt=f"Say {text}.", checks=(_check("texts", kind, (text, text)),))
        for number, text in enumerate(
            ("{{name}}", "{% if %}", "{# a", "a: b # c", "- x", "${HOME}", "a\nb", "null", "5")
        )
    )
    suite = _suite(name, tmp_path, cases)
    made, read = _converted(call, suite, name, tmp_path / "there")
    assert not _of_checks(made, suite)
    assert _differences(call, suite, read) == []


def test_a_suite_of_promptfoo_as_evals_of_a_skill(call: Invocation, tmp_path: Path) -> None:
    """Texts, any of several, a judge's criterion, code, weights and a threshold: all of it is read as what it was."""
    config = """prompts: ["{{prompt}}"]
providers: ["anthropic:claude-agent-sdk"]
tests:
- description: one
  vars: {prompt: Say hello.}
  threshold: 0.6
  assert:
  - {type: contains, value: Hello, weight: 2}
  - {type: icontains-any, value: [dear, "best wishes"]}
  - {type: not-regex, value: "[0-9]+"}
  - {type: llm-rubric, value: is kind, threshold: 0.8}
  - {type: javascript, value: output.length < 100, weight: 0}
- description: two
  vars: {prompt: Say goodbye.}
  assert:
  - {type: javascript, value: output.length > 3}
"""
    folder = tmp_path / "greet"
    folder.mkdir()
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "promptfooconfig.yaml").write_text(config)
    (suite,) = call.suites(folder, suite_format="promptfoo").suites
    made, read = _converted(call, suite, "agent-skills", tmp_path / "there")
    assert not [one.message for one in made.losses if "check" in one.message or "grader" in one.message]
    assert _differences(call, suite, read) == []
    _, back = _converted(call, read, "promptfoo", tmp_path / "back")
    assert _differences(call, suite, back) == []


PAIRS = sorted(pair for pair in itertools.permutations(AGENTS, 2) if HELD[pair[0]] & HELD[pair[1]])


@settings(
    max_examples=3 * settings().max_examples,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # suites are small as they are
)
@given(data=st.data())
def test_pairs_of_formats(data: st.DataObject, call: Invocation) -> None:
    """There and back, of what both can hold: no check is changed, and none is reported as changed."""
    first, second = data.draw(st.sampled_from(PAIRS))
    cases = data.draw(_cases(first, second))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _, own = _converted(call, _suite(first, folder, cases), first, folder / "own")
        assume(not _differences(call, _suite(first, folder, cases), own))
        there, read = _converted(call, own, second, folder / "there")
        assert not _of_checks(there, own), f"{first} to {second}"
        assert _differences(call, own, read) == [], f"{first} to {second}"
        _, back = _converted(call, read, first, folder / "back")
        assert _differences(call, own, back) == [], f"{first} to {second} and back"


@st.composite
def _cases(draw: st.DrawFn, first: str, second: str) -> tuple[Case, ...]:
    """Cases of what two formats can hold."""
    formats = {first, second}
    kinds = st.sampled_from(sorted(HELD[first] & HELD[second]))
    most = min(TOGETHER.get(name, 3) for name in formats)
    made = []
    for number in range(draw(st.integers(1, 3))):
        chosen = draw(st.lists(kinds, min_size=1, max_size=most, unique=True))
        if formats & ONE_JUDGED:
            judged = [kind for kind in chosen if KINDS[kind](("a", "b"))[0] == "rubric"]
            chosen = [kind for kind in chosen if kind not in judged[1:]]
        checks = [_check(f"{kind} {number}", kind, draw(st.tuples(WORDS, WORDS))) for kind in chosen]
        if formats <= WEIGHTS:
            checks = [one.model_copy(update={"weight": draw(st.sampled_from([1.0, 2.0]))}) for one in checks]
        if formats <= BESIDE and len(checks) > 1 and draw(st.booleans()):
            checks[0] = checks[0].model_copy(update={"beside": True, "weight": 1.0})
        made.append(Case(id=f"case-{number}", prompt=f"Say hello {number}.", checks=tuple(checks)))
    is_weighted = any(check.weight != 1 for case in made for check in case.checks)
    rule = SHARE if is_weighted else VerdictRule()  # one for all cases, as files of some formats have it
    return tuple(case.model_copy(update={"rule": rule}) for case in made)


def _check(name: str, kind: str, texts: tuple[str, str]) -> Check:
    scorer, options = KINDS[kind](texts)
    frozen = freeze(options)
    assert isinstance(frozen, Mapping)
    return Check(id=name, scorer=scorer, options=frozen)


def _case(name: str, checks: tuple[Check, ...], format_name: str) -> Case:
    """A case with a further check, so that it still asserts something where the first is lost."""
    beside = () if format_name == DIRECT else (_companion(format_name),)
    return Case(id=name, prompt=f"Show {name}.", checks=(*checks, *beside))


def _companion(format_name: str) -> Check:
    if "contains" in HELD[format_name]:
        return Check(id="companion", scorer="contains", options={"keywords": ("ok",), "case_sensitive": True})
    return Check(id="It ends well.", scorer="rubric", options={"claims": ("It ends well.",)})


def _suite(format_name: str, folder: Path, cases: tuple[Case, ...]) -> Suite:
    """A suite of no format: about a skill, or direct calls of one."""
    if format_name == DIRECT:
        target = Target(id="calculator", root=str(CALCULATOR))
        return Suite(id="s", format="made-up", root=str(CALCULATOR), cases=cases, targets=(target,))
    root = folder / "source/greet"
    root.mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text(SKILL)
    arms = (
        Arm(name="with_skill", kind=ArmKind.AGENT, skills=(skill_ref(root, "greet", ()),)),
        Arm(name="without_skill", kind=ArmKind.AGENT),
    )
    pair = Comparison(candidate="with_skill", baseline="without_skill")
    target = Target(id="greet", root=str(root))
    return Suite(
        id="s", format="made-up", root=str(root), cases=cases, targets=(target,), arms=arms, comparisons=(pair,)
    )


def _converted(call: Invocation, suite: Suite, name: str, folder: Path) -> tuple[Converted, Suite]:
    """A suite in a format, and what its files are read as."""
    made = convert(call, suite, name, call.suite_format(name))
    assert not made.refusals, [one.message for one in made.refusals]
    place = folder / "greet"
    for path, content in made.files:
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    paths = [place / made.files[0][0], CALCULATOR] if name == DIRECT else [place]
    (read,) = call.suites(*paths, suite_format=name).suites
    return made, read


def _meanings(call: Invocation, checks: Iterable[Check]) -> list[tuple[Any, ...]]:
    """What checks assert and how they count, whatever they are called."""
    return sorted(
        (
            check.scorer,
            _effective(call, check),
            check.beside,
            0.0 if check.beside else round(check.weight, 6),
            check.turn if check.turn is not None else -1,
        )
        for check in checks
    )


def _effective(call: Invocation, check: Check) -> str:
    model = call.registry.options_model("scorers", check.scorer)
    assert model is not None
    options = model.model_validate(thaw(check.options)).model_dump(mode="json", by_alias=True)
    if options.get("criteria") is not None and options["scale"] is None:
        options["scale"] = "pass-fail"  # so says the scorer of a check that names none
    return canonical_json(freeze({key: value for key, value in options.items() if key != "label"}))


def _differences(call: Invocation, before: Suite, after: Suite) -> list[object]:
    """What is not equal of two suites: cases by their prompts, their checks, and what passes a case."""
    was, now = ({_asked(case): case for case in suite.cases} for suite in (before, after))
    found: list[object] = sorted(was.keys() ^ now.keys())
    for prompt in was.keys() & now.keys():
        mine, other = was[prompt], now[prompt]
        if _meanings(call, mine.checks) != _meanings(call, other.checks):
            found.append((_meanings(call, mine.checks), _meanings(call, other.checks)))
        if _passes(mine.rule) != _passes(other.rule):
            found.append((mine.rule, other.rule))
    return found


def _asked(case: Case) -> str:
    return "\n".join((case.prompt or canonical_json(case.input), *case.turns))


def _passes(rule: VerdictRule) -> VerdictRule:
    """Rules by which the same cases pass are the same: `each` differs from `all` by partial credit alone."""
    return VerdictRule() if rule.mode is VerdictMode.EACH else rule


def _is_about(message: str, case: Case) -> bool:
    """Tell whether a loss is about the first check of a case, or the whole of the case."""
    of_case, of_check = f"case {case.id!r}", f"check {case.checks[0].id!r}"
    return message.startswith(f"{of_case} is left out: ") or (message.startswith(of_case) and of_check in message)


def _of_checks(made: Converted, suite: Suite) -> Sequence[str]:
    """Losses that name a check."""
    names = [repr(check.id) for case in suite.cases for check in case.checks]
    return [one.message for one in made.losses if any(f"check {name}" in one.message for name in names)]
