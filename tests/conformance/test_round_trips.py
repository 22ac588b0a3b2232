"""A suite made of what two formats can hold comes back equal from either of them, with nothing reported as lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillgauge.api import Case, Check, freeze
from skillgauge.api.run import Invocation, invocation
from skillgauge.config.global_options import Globals
from skillgauge_assertions import DEFAULTS

from .conversions import DIRECT, SKILL, converted, differences, meanings, of_checks, suite_about, typed_check
from .kinds_of_checks import HELD, KINDS, page
from .parts_of_cases import HELD_RULES

DIALECTS = Path(__file__).parents[2] / "docs/dialects.md"
PLAIN = sorted(name for name, rules in HELD_RULES.items() if "all" in rules and name not in (DIRECT, "uaaps"))


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
    """The page says of conversions exactly what is tested here."""
    text = DIALECTS.read_text(encoding="utf-8")
    start, end = "<!-- held: written by tests/conformance/kinds_of_checks.py -->", "<!-- end of held -->"
    assert text.partition(start)[2].partition(end)[0].strip() == page()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HELD))
def test_what_each_format_holds(name: str, call: Invocation, tmp_path: Path) -> None:
    """Each kind of check comes back as it was where the table says so; of every other kind a loss is reported."""
    cases = tuple(_case(kind, (typed_check(kind, kind, ("Ab", "c d")),), name) for kind in KINDS)
    made, read = converted(call, suite_about(name, tmp_path, cases), name, tmp_path / "there")
    by_id = {case.id: case for case in read.cases}
    for case in cases:
        mine = meanings(call, by_id[case.id].checks) if case.id in by_id else []
        is_held = all(meaning in mine for meaning in meanings(call, case.checks[:1]))
        about = [one.message for one in made.losses if _is_about(one.message, case)]
        losses = [message for message in about if name != DIRECT or ": answer: " not in message]  # read as its own
        assert is_held is (case.id in HELD[name]), f"{case.id} in {name}: {losses or 'nothing is reported'}"
        assert is_held is not bool(losses), f"{case.id} in {name}: {losses or 'nothing is reported'}"


@pytest.mark.parametrize("name", PLAIN)
def test_texts_as_they_stand(name: str, call: Invocation, tmp_path: Path) -> None:
    """Signs of templates, of YAML and of shells in a text are looked for, and not obeyed."""
    kind = "contains" if "contains" in HELD[name] else "claim"
    cases = tuple(
        Case(id=f"case-{number}", prompt=f"Say {text}.", checks=(typed_check("texts", kind, (text, text)),))
        for number, text in enumerate(
            ("{{name}}", "{% if %}", "{# a", "a: b # c", "- x", "${HOME}", "a\nb", "null", "5")
        )
    )
    suite = suite_about(name, tmp_path, cases)
    made, read = converted(call, suite, name, tmp_path / "there")
    assert not of_checks(made, suite)
    assert differences(call, suite, read) == []


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
    made, read = converted(call, suite, "agent-skills", tmp_path / "there")
    assert not [one.message for one in made.losses if "check" in one.message or "grader" in one.message]
    assert differences(call, suite, read) == []
    _, back = converted(call, read, "promptfoo", tmp_path / "back")
    assert differences(call, suite, back) == []


def _case(name: str, checks: tuple[Check, ...], format_name: str) -> Case:
    """A case with a further check, so that it still asserts something where the first is lost."""
    beside = () if format_name == DIRECT else (_companion(format_name),)
    return Case(id=name, prompt=f"Show {name}.", checks=(*checks, *beside))


def _companion(format_name: str) -> Check:
    if "contains" in HELD[format_name]:
        return Check(id="companion", scorer="contains", options={"keywords": ("ok",), "case_sensitive": True})
    return Check(id="It ends well.", scorer="rubric", options={"claims": ("It ends well.",)})


def _is_about(message: str, case: Case) -> bool:
    """Tell whether a loss is about the first check of a case, or the whole of the case."""
    of_case, of_check = f"case {case.id!r}", f"check {case.checks[0].id!r}"
    return message.startswith(f"{of_case} is left out: ") or (message.startswith(of_case) and of_check in message)
