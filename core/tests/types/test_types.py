"""The immutable values: copied once, written as JSON without loss, compared and digested by content."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import pickle
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from dataclasses import fields as dataclass_fields
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, WithJsonSchema

from skillgauge.errors import Origin, Problem
from skillgauge.stats import Evidence, GradedEvidence, Interval, Latency, MeanRatio, RateInterval, Reliability
from skillgauge.types import comparison, gate, score, suite, trial
from skillgauge.types.arms import DIRECT, Arm, ArmKind, Comparison, GroupKey, Install, SkillRef, SkillRole
from skillgauge.types.comparison import Counts
from skillgauge.types.gate import RepeatRule
from skillgauge.types.results import runs, summaries, trials
from skillgauge.types.results.runs import RunState
from skillgauge.types.results.summaries import Summary
from skillgauge.types.results.trials import TrialResult, Verdict
from skillgauge.types.score import Score, ScoreStatus
from skillgauge.types.suite import (
    Case,
    Check,
    FileSpec,
    HostVariable,
    LimitOutcome,
    Limits,
    SimulatedUser,
    Suite,
    Target,
    TargetKind,
    VerdictMode,
    VerdictRule,
)
from skillgauge.types.trajectory import Block, EventKind, FiredSkill
from skillgauge.types.trial import Blame, Execution, Failure, FailureClass, FileChange, Identity, Trial
from skillgauge.types.usage import Usage
from skillgauge_documents import MAX_DEPTH, freeze, thaw
from skillgauge_documents.frozen import EMPTY, Frozen, Json, JsonObject, canonical_json, digest, digest_text, once

quick = settings(max_examples=40, deadline=None)
few = settings(max_examples=8, deadline=None)

VALUES: list[type[Frozen]] = [
    cls
    for module in (gate, suite, trial, score, comparison, trials, summaries, runs)
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Frozen) and cls.__module__ == module.__name__
]
"""Every value of the pipeline, those that are added later included."""


texts = st.text(max_size=6)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
jsons: st.SearchStrategy[Any] = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, jsons, max_size=3)


class Holder(Frozen):
    """A value with one field of each JSON type."""

    value: Json = None
    options: JsonObject = EMPTY


def _field(annotation: Any, metadata: list[Any]) -> st.SearchStrategy[Any]:
    """Values that a field accepts, found from its annotation."""
    schemas = [item.json_schema for item in metadata if isinstance(item, WithJsonSchema)]
    if schemas:
        return objects if schemas[0] else jsons
    origin = get_origin(annotation)
    if origin is Annotated:
        return _field(get_args(annotation)[0], list(get_args(annotation)[1:]))
    if origin is Iterable:
        return st.lists(of_type(Case), max_size=2).map(tuple)
    if origin is Literal:
        return st.sampled_from(get_args(annotation))
    if origin in (Union, types.UnionType):
        return st.one_of([_field(one, metadata) for one in get_args(annotation)])
    if origin is tuple:
        parts = get_args(annotation)
        if parts[-1] is Ellipsis:
            return st.lists(_field(parts[0], []), max_size=2).map(tuple)
        return st.tuples(*(_field(part, []) for part in parts))
    least: Any = next((item.ge for item in metadata if isinstance(item, annotated_types.Ge)), None)
    above: Any = next((item.gt for item in metadata if isinstance(item, annotated_types.Gt)), None)
    most: Any = next((item.le for item in metadata if isinstance(item, annotated_types.Le)), None)
    if annotation is float:
        low = above if least is None else least
        return st.floats(low, most, exclude_min=above is not None, allow_nan=False, allow_infinity=False)
    if annotation is int:
        return st.integers(least if above is None else above + 1, most)
    if annotation is Origin:
        return st.builds(Origin, texts, st.lists(texts | st.integers(0, 9), max_size=2).map(tuple))
    if annotation is GroupKey:
        return st.builds(GroupKey, texts, st.none() | texts, texts, texts, st.none() | texts)
    if is_dataclass(annotation):
        kinds_of = get_type_hints(annotation)
        known = {one.name: _field(kinds_of[one.name], []) for one in dataclass_fields(annotation)}
        return st.builds(annotation, **known)
    plain = {str: texts, bool: st.booleans(), type(None): st.none()}
    if annotation in plain:
        return plain[annotation]
    if issubclass(annotation, Enum):
        return st.sampled_from(annotation)
    return of_type(annotation)


@lru_cache
def of_type(cls: type[Frozen]) -> st.SearchStrategy[Any]:
    """Instances of a value with every field that is written filled or left to its default."""
    if cls is FileSpec:
        path = st.lists(st.text("ab.é", min_size=1, max_size=3).map(lambda name: f"x{name}"), min_size=1, max_size=3)
        content = st.fixed_dictionaries({"text": texts}) | st.fixed_dictionaries({"source": texts, "digest": texts})
        return st.builds(
            lambda parts, executable, rest: FileSpec(path="/".join(parts), executable=executable, **rest),
            path,
            st.booleans(),
            content,
        )
    fields = {name: info for name, info in cls.model_fields.items() if not info.exclude}
    known = {name: _field(info.annotation, info.metadata) for name, info in fields.items()}
    required = {name: one for name, one in known.items() if fields[name].is_required()}
    optional = {name: one for name, one in known.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: cls(**given))


def nested(levels: int, leaf: object = None) -> object:
    """A value inside that many lists."""
    for _ in range(levels):
        leaf = [leaf]
    return leaf


def parts_of(value: object) -> Iterator[object]:
    """A value and everything inside it."""
    yield value
    if isinstance(value, BaseModel):
        inner: list[object] = [getattr(value, name) for name in type(value).model_fields]
    elif isinstance(value, Mapping):
        inner = list(value.values())
    else:
        inner = list(value) if isinstance(value, tuple | list) else []
    for part in inner:
        yield from parts_of(part)


# --- JSON in a value --------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [math.nan, "\ud800", {1: 1}, b"a", nested(MAX_DEPTH + 2)])
def test_what_is_not_json_is_refused(value: object) -> None:
    """A value that JSON cannot hold never gets into the pipeline."""
    with pytest.raises(ValidationError):
        Holder.model_validate({"value": value})


def test_only_objects_fit_where_an_object_is_asked_for() -> None:
    """A list or text is not taken for options."""
    for value in ([1], "text", None):
        with pytest.raises(ValidationError, match="must be an object"):
            Holder.model_validate({"options": value})


# --- canonical text and digest ----------------------------------------------------------------------------


@quick
@given(objects)
def test_canonical_json_ignores_the_order_of_keys(value: dict[str, Any]) -> None:
    """The same object has the same text, however it was put together."""
    shuffled = {key: value[key] for key in reversed(list(value))}
    assert canonical_json(shuffled) == canonical_json(freeze(value)) == canonical_json(value)


@quick
@given(jsons, jsons)
def test_canonical_json_is_equal_only_for_the_same_value(one: object, other: object) -> None:
    """The text can be read back, so two values share it only if they are the same JSON."""
    assert json.dumps(json.loads(canonical_json(one)), sort_keys=True) == json.dumps(thaw(freeze(one)), sort_keys=True)
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical_json(one) == canonical_json(other)) is same


def test_canonical_json_is_bare_ascii() -> None:
    """No blank, no line end and nothing beyond ASCII depends on the machine."""
    assert canonical_json({"b": [1, 2.0], "a": "é"}) == '{"a":"\\u00e9","b":[1,2.0]}'


def test_canonical_json_tells_numbers_apart() -> None:
    """An int, the float of the same size and a boolean are three inputs."""
    assert len({canonical_json(value) for value in (1, 1.0, True)}) == 3


def test_canonical_json_refuses_nan() -> None:
    """There is no text for what is no number."""
    with pytest.raises(ValueError, match="JSON"):
        canonical_json([math.nan])


@quick
@given(st.lists(jsons, max_size=3), st.lists(jsons, max_size=3))
def test_a_digest_depends_on_exactly_its_parts(one: list[object], other: list[object]) -> None:
    """The same parts in the same order and nothing else make the same 128 bits."""
    assert (digest(*one) == digest(*other)) is (canonical_json(one) == canonical_json(other))
    assert len(digest(*one)) == 32
    assert int(digest(*one), 16) >= 0


def test_a_digest_does_not_run_its_parts_together() -> None:
    """Moving a character from one part to the next is another input."""
    assert digest("ab", "c") != digest("a", "bc")
    assert digest(["a"], "b") != digest("a", ["b"])


def test_a_digest_is_the_same_on_every_machine() -> None:
    """The value is a published number: stored runs and cassettes depend on it."""
    assert digest("a", 1, {"b": None}) == "b1be2fbe696c6cab8d545c45c9d8e4c4"


def test_texts_have_digests_too() -> None:
    """As published numbers, of the text's UTF-8; half a surrogate pair does not stop anybody from comparing."""
    assert digest_text("abc") == "ba7816bf8f01cfea414140de5dae2223"
    assert digest_text("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()[:32]
    assert digest_text("\ud800") != digest_text("\ud801")


# --- every value ------------------------------------------------------------------------------------------


def test_the_list_of_values_is_complete() -> None:
    """The generated tests below cover what travels down the pipeline."""
    names = {cls.__name__ for cls in VALUES}
    assert {"Case", "Check", "Suite", "Trial", "Execution", "Score", "TrialResult", "Summary", "PlanHead"} <= names
    assert len(VALUES) >= 30


def for_every_value(subtests: pytest.Subtests, check: Callable[[Frozen], None]) -> None:
    """Check made-up values of every class; what fails is told with the class."""
    for cls in VALUES:
        with subtests.test(cls=cls.__name__):
            few(given(of_type(cls))(check))()


@pytest.mark.slow
def test_every_value_survives_json(subtests: pytest.Subtests) -> None:
    """What is written is read back equal, down to the text."""

    def check(value: Frozen) -> None:
        text = value.model_dump_json()
        back = type(value).model_validate_json(text)
        assert back == value
        assert back.model_dump_json() == text
        assert type(value).model_validate(json.loads(json.dumps(value.model_dump(mode="json")))) == value

    for_every_value(subtests, check)


@pytest.mark.slow
def test_every_value_is_immutable_to_the_bottom(subtests: pytest.Subtests) -> None:
    """No field can be set or deleted and no container inside changed."""

    def check(value: Frozen) -> None:
        for name in type(value).model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(value, name, getattr(value, name))
            with pytest.raises(ValidationError, match="frozen"):
                delattr(value, name)
        assert not [part for part in parts_of(value) if isinstance(part, list | set) or type(part) is dict]

    for_every_value(subtests, check)


@pytest.mark.slow
def test_every_value_can_be_sent_to_another_process(subtests: pytest.Subtests) -> None:
    """Pickled or deeply copied, a value is equal and as immutable as before."""

    def check(value: Frozen) -> None:
        for twin in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
            assert twin == value
            assert not [part for part in parts_of(twin) if isinstance(part, list | set) or type(part) is dict]

    for_every_value(subtests, check)


def from_a_newer_version(value: object) -> Any:
    """The JSON form of a value, with an unknown field in every object that has fields."""
    if isinstance(value, Frozen):
        names = [name for name, info in type(value).model_fields.items() if not info.exclude]
        return {name: from_a_newer_version(getattr(value, name)) for name in names} | {"newer": {"a": [1]}}
    if isinstance(value, Origin):
        return {"file": value.file, "pointer": list(value.pointer)}
    if isinstance(
        value, GroupKey | Evidence | GradedEvidence | Interval | Latency | MeanRatio | RateInterval | Reliability
    ):
        return asdict(value)
    if isinstance(value, tuple):
        return [from_a_newer_version(item) for item in value]
    return thaw(value)  # type: ignore[arg-type]  # scalars, enums and JSON objects are left


@pytest.mark.slow
def test_every_value_of_a_newer_minor_version_is_readable(subtests: pytest.Subtests) -> None:
    """With `extra="ignore"` unknown fields are passed over at every level; otherwise they are refused."""

    def check(value: Frozen) -> None:
        text = json.dumps(from_a_newer_version(value))
        with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
            type(value).model_validate_json(text)
        assert type(value).model_validate_json(text, extra="ignore") == value

    for_every_value(subtests, check)


@pytest.mark.filterwarnings("ignore:Default value")
def test_every_value_has_a_json_schema(subtests: pytest.Subtests) -> None:
    """Documents are published with schemas made from the values: each names every field that is written."""
    for cls in VALUES:
        with subtests.test(cls=cls.__name__):
            schema = cls.model_json_schema(mode="serialization")
            assert schema["type"] == "object"
            assert set(schema["properties"]) == {name for name, info in cls.model_fields.items() if not info.exclude}


def test_json_fields_are_open_in_a_schema() -> None:
    """A JSON field accepts anything, a JSON object field any object, and nothing is warned about."""
    properties = Holder.model_json_schema()["properties"]
    assert "type" not in properties["value"]
    assert properties["options"]["type"] == "object"


def test_no_number_field_takes_what_json_cannot_write() -> None:
    """A NaN would be written as null and read back as something else, or not at all."""
    accepted = []
    for cls in VALUES:
        for name, info in cls.model_fields.items():
            if float not in (info.annotation, *get_args(info.annotation)):
                continue
            for number in (math.nan, math.inf, -math.inf):
                with pytest.raises(ValidationError) as caught:
                    cls.model_validate({name: number, "unknown": None})
                if name not in {error["loc"][0] for error in caught.value.errors()}:
                    accepted.append(f"{cls.__name__}.{name}={number}")
    assert accepted == []


def test_no_text_field_takes_half_a_surrogate_pair() -> None:
    """Text that cannot be written is refused when the value is made, not when its result is to be kept."""
    makers: list[Callable[[str], Frozen]] = [
        lambda text: Case(id=text),
        lambda text: Case(id="c", prompt=text),
        lambda text: Execution(stdout=text),
        lambda text: Execution(notes=(text,)),
        lambda text: Score.failed(text),
    ]
    for make in makers:
        with pytest.raises(ValidationError):
            make("\ud800")


def test_a_value_can_be_watched_by_a_weak_reference() -> None:
    """Tests that measure how many values are alive rest on it."""
    case = Case(id="c")
    assert weakref.ref(case)() is case


# --- single values ----------------------------------------------------------------------------------------


limits = of_type(Limits)


@quick
@given(limits, limits, limits)
def test_limits_fall_back_field_by_field(first: Limits, second: Limits, third: Limits) -> None:
    """A limit that is set stays, one that is not comes from the next, whichever pair is combined first."""
    combined = first.over(second)
    for name in Limits.model_fields:
        own, other = getattr(first, name), getattr(second, name)
        assert getattr(combined, name) == (other if own is None else own)
    assert first.over(second).over(third) == first.over(second.over(third))
    assert first.over(Limits()) == Limits().over(first) == first


@pytest.mark.parametrize("wrong", [{"timeout_s": 0}, {"timeout_s": -1}, {"max_turns": 0}, {"output_bytes": 0}], ids=str)
def test_a_limit_of_nothing_is_refused(wrong: dict[str, Any]) -> None:
    """A limit is positive; `None` is how one is left open."""
    with pytest.raises(ValidationError):
        Limits.model_validate(wrong)


@pytest.mark.parametrize("least", [{"timeout_s": 1e-9}, {"max_turns": 1}, {"output_bytes": 1}], ids=str)
def test_the_least_limit_is_accepted(least: dict[str, Any]) -> None:
    """However small, a positive limit is a limit."""
    assert Limits.model_validate(least).model_dump(exclude_none=True) == least


def test_everything_weighs_one() -> None:
    """Without a word about weights all checks, cases and scores count alike."""
    assert (Check(id="k", scorer="s").weight, Case(id="c").weight, Score.passed().weight) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "..", "../a", "a/../b", "a/..", "a\\b", "..\\a", "", ".", "./", "//a", "a/../../b"]
)
def test_a_file_cannot_leave_the_workspace(path: str) -> None:
    """Absolute paths, steps upwards and back slashes are refused, as is a path that names no file."""
    with pytest.raises(ValidationError, match="does not stay inside the workspace"):
        FileSpec(path=path, text="")


@pytest.mark.parametrize("path", ["a", "a/b.txt", "./a", "..a", "a..b/c", ".hidden", "a b/é"])
def test_an_ordinary_path_is_accepted(path: str) -> None:
    """Dots in names are no steps upwards."""
    assert FileSpec(path=path, text="").path == path


@pytest.mark.parametrize("content", [{}, {"text": "a", "source": "/a"}], ids=["none", "both"])
def test_a_file_has_exactly_one_content(content: dict[str, str]) -> None:
    """Text or a file to copy, never both and never neither."""
    with pytest.raises(ValidationError, match="exactly one of text and source"):
        FileSpec.model_validate({"path": "a", **content})


def test_a_files_content_id_covers_path_mode_and_content() -> None:
    """Each of the three makes another id; where equal content comes from does not."""
    base = FileSpec(path="a", text="x")
    others = [
        FileSpec(path="b", text="x"),
        FileSpec(path="a", text="y"),
        FileSpec(path="a", text="x", executable=True),
        FileSpec(path="a", source="/a", digest="other"),
    ]
    assert len({file.content_id for file in (base, *others)}) == 5
    assert FileSpec(path="a", source="/a", digest=digest("x")).content_id == base.content_id


def test_files_of_unknown_content_do_not_share_an_id() -> None:
    """Equal ids mean the same work, so two source files without a digest must not be taken for the same."""
    try:
        files = [FileSpec(path="a", source=source) for source in ("/one", "/two")]
    except ValidationError:
        return
    assert files[0].content_id != files[1].content_id


BASE_CASE = Case(id="c", input=1, prompt="p")
FILE = FileSpec(path="a", text="x")
OTHER_CASES: dict[str, tuple[dict[str, Any], str]] = {
    "id": ({"id": "d"}, "none"),
    "name": ({"name": "n"}, "none"),
    "description": ({"description": "d"}, "none"),
    "input": ({"input": 1.0}, "execution"),
    "prompt": ({"prompt": "q"}, "execution"),
    "arm_prompts": ({"arm_prompts": (("without_skill", "q"),)}, "execution"),
    "turns": ({"turns": ("q",)}, "execution"),
    "user": ({"user": SimulatedUser(check=Check(id="u", scorer="s"))}, "execution"),
    "files": ({"files": (FILE,)}, "execution"),
    "installs": ({"installs": (Install(kind="servers", name="n", content={"a": 1}),)}, "execution"),
    "setup": ({"setup": ("true",)}, "execution"),
    "setup_files": ({"setup_files": (FILE,)}, "execution"),
    "grader_files": ({"grader_files": (FILE,)}, "checks"),
    "network": ({"network": True}, "execution"),
    "skip": ({"skip": "no engine fires hooks"}, "checks"),
    "image_files": ({"image_files": (FileSpec(path="Dockerfile", text="FROM a"),)}, "execution"),
    "checks": ({"checks": (Check(id="k", scorer="s"),)}, "checks"),
    "rule": ({"rule": VerdictRule(mode=VerdictMode.MEAN)}, "checks"),
    "repeat_rule": ({"repeat_rule": RepeatRule(share=0.7)}, "none"),
    "runs": ({"runs": 2}, "none"),
    "targets": ({"targets": ("t",)}, "none"),
    "tags": ({"tags": ("t",)}, "none"),
    "cluster": ({"cluster": "g"}, "none"),
    "weight": ({"weight": 2.0}, "none"),
    "limits": ({"limits": Limits(max_turns=3)}, "none"),
    "env": ({"env": {"A": "1"}}, "execution"),
    "pass_env": ({"pass_env": (HostVariable(name="A", host="B"),)}, "execution"),
    "extras": ({"extras": {"x": 1}}, "none"),
    "origin": ({"origin": Origin("f")}, "none"),
}


def test_every_field_of_a_case_is_assigned_to_a_digest() -> None:
    """A new field must say whether it changes what is executed or how that is graded."""
    assert set(OTHER_CASES) == set(Case.model_fields)


@pytest.mark.parametrize(("change", "part"), OTHER_CASES.values(), ids=OTHER_CASES)
def test_a_case_digest_changes_with_its_own_fields_only(change: dict[str, Any], part: str) -> None:
    """What is executed and how it is graded have digests apart, so that new checks buy no new executions."""
    other = Case.model_validate(BASE_CASE.model_dump() | change)
    assert (other.execution_digest != BASE_CASE.execution_digest) is (part == "execution")
    assert (other.checks_digest != BASE_CASE.checks_digest) is (part == "checks")


@pytest.mark.parametrize(("change", "part"), OTHER_CASES.values(), ids=OTHER_CASES)
def test_a_recipe_tells_every_fact_of_a_case_that_decides_what_is_executed(change: dict[str, Any], part: str) -> None:
    """Else a replay that misses a recording could not say what has changed since."""
    other = Case.model_validate(BASE_CASE.model_dump() | change)
    recipes = [
        Trial(
            suite_id="s",
            case=case,
            case_index=0,
            arm=Arm(name="a", kind=ArmKind.AGENT),
            runner=Identity(name="e"),
            repeat=1,
            seed=0,
            limits=Limits(),
            trial_id="t",
            ordinal=0,
            execution_id="x",
        ).recipe
        for case in (BASE_CASE, other)
    ]
    assert (recipes[0] != recipes[1]) is (part == "execution" or "id" in change)


@pytest.mark.parametrize(
    "change",
    [{"id": "l"}, {"scorer": "t"}, {"options": {"a": 1}}, {"weight": 0.5}, {"stage": 1}],
    ids=lambda change: next(iter(change)),
)
def test_a_checks_digest_covers_each_check(change: dict[str, Any]) -> None:
    """Name, scorer, options and weight of a check decide how a case is graded."""
    base = Check(id="k", scorer="s")
    other = Check.model_validate(base.model_dump() | change)
    assert Case(id="c", checks=(base,)).checks_digest != Case(id="c", checks=(other,)).checks_digest


def test_where_a_check_was_written_does_not_matter() -> None:
    """Moving a check to another line grades nothing again."""
    checks = [Check(id="k", scorer="s", origin=Origin("f", (line,))) for line in (1, 2)]
    assert len({Case(id="c", checks=(check,)).checks_digest for check in checks}) == 1


@pytest.mark.parametrize("name", ["execution_digest", "checks_digest"])
def test_a_changed_copy_of_a_case_has_its_own_digest(name: str) -> None:
    """A digest that was computed before is not carried over to a copy with other content."""
    case = Case(id="c", input=1)
    before = getattr(case, name)
    changed = case.model_copy(update={"input": 2, "rule": VerdictRule(mode=VerdictMode.MEAN)})
    assert getattr(changed, name) != before


def test_a_changed_copy_of_a_file_has_its_own_content_id() -> None:
    """As stages do it: the same file under another path is another file."""
    file = FileSpec(path="a", text="x")
    before = file.content_id
    assert file.model_copy(update={"path": "b"}).content_id != before


def test_a_copy_without_changes_is_equal() -> None:
    """Whether a digest was computed before or not."""
    case = Case(id="c", input=1)
    assert case.execution_digest == case.model_copy().execution_digest
    assert case.model_copy() == case.model_copy(deep=True) == case


@few
@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
@given(st.data())
def test_known_parts_make_the_same_value_as_validated_ones(cls: type[Frozen], data: st.DataObject) -> None:
    """Equal, with the same JSON to the letter and the same defaults; copied, pickled and protected alike."""
    value = data.draw(of_type(cls))
    given = {name: getattr(value, name) for name in value.model_fields_set}
    known = cls.of_known(**given)
    assert known == value
    assert known.model_dump_json() == value.model_dump_json()
    assert list(vars(known)) == list(cls.model_fields)
    assert pickle.loads(pickle.dumps(known)) == copy.deepcopy(known) == known.model_copy() == value
    for name in cls.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(known, name, None)


def test_parts_are_handed_over_as_they_are() -> None:
    """Nothing is copied or looked at again, and no two values share what one of them computes."""
    case = Case(id="c", input={"n": [1]})
    known = Case.of_known(id="d", input=case.input)
    assert known.input is case.input
    assert known.execution_digest == case.execution_digest
    assert Case.of_known(id="d", input=1).execution_digest != known.execution_digest


def test_a_copy_keeps_what_is_no_field() -> None:
    """A plugin's own value may allow further keys and hold something private; its defaults may be made."""

    class Open(Frozen):
        model_config = ConfigDict(extra="allow")

        text: str
        more: tuple[int, ...] = Field(default_factory=tuple)
        _note: str = PrivateAttr(default="")

    value = Open.model_validate({"text": "a", "beside": 1})
    value._note = "kept"
    copied = value.model_copy(update={"text": "b"})
    assert (copied.text, copied.model_extra, copied._note) == ("b", {"beside": 1}, "kept")
    assert Open.of_known(text="a").more == ()


def test_a_digest_is_computed_once() -> None:
    """It is kept with the value, and is none of its fields."""
    computed: list[str] = []

    class Value(Frozen):
        text: str

        @once
        def length(self) -> int:
            """Of the text."""
            computed.append(self.text)
            return len(self.text)

    one, other = Value(text="abc"), Value(text="abc")
    assert (one.length, one.length, computed) == (3, 3, ["abc"])
    assert one == other
    assert one.model_dump() == {"text": "abc"}
    assert one.model_copy(update={"text": "ab"}).length == 2
    assert Value.length.__doc__ == "Of the text."


def test_a_check_that_has_nothing_to_say_is_the_same_score() -> None:
    """Passing without a word is the same value as one made in full."""
    assert Score.passed() == Score(status=ScoreStatus.PASSED, value=1.0)
    assert Score.passed("why") == Score(status=ScoreStatus.PASSED, value=1.0, reason="why")
    assert Score.passed(evidence=0).evidence == 0


def test_a_target_knows_where_its_fields_come_from() -> None:
    """A problem about one field is shown at its own place if there is one, else at that of the target."""
    target = Target(id="t", origin=Origin("a"), origins=(("adapter", Origin("b")),))
    assert target.origin_of("adapter") == Origin("b")
    assert target.origin_of("entrypoint") == Origin("a")
    assert Target(id="t").origin_of("adapter") is None


def test_an_arms_digest_covers_its_skills_and_not_its_name() -> None:
    """Two conditions are the same work if the same skills are present, whatever they are called."""
    skill = SkillRef(name="pdf", root="/a", digest="1")
    base = Arm(name="with", kind=ArmKind.AGENT, skills=(skill,))
    assert Arm(name="other", kind=ArmKind.AGENT, skills=(skill,)).digest == base.digest
    assert Arm(name="with", kind=ArmKind.AGENT, skills=(SkillRef(name="pdf", root="/b", digest="1"),)).digest == (
        base.digest
    )
    others = [
        Arm(name="with", kind=ArmKind.AGENT),
        Arm(name="with", kind=ArmKind.DIRECT, skills=(skill,)),
        Arm(name="with", kind=ArmKind.AGENT, skills=(SkillRef(name="doc", root="/a", digest="1"),)),
        Arm(name="with", kind=ArmKind.AGENT, skills=(SkillRef(name="pdf", root="/a", digest="2"),)),
        Arm(
            name="with",
            kind=ArmKind.AGENT,
            skills=(SkillRef(name="pdf", root="/a", digest="1", leaves_out=("evals",)),),
        ),
    ]
    assert len({arm.digest for arm in (base, *others)}) == 6


def test_an_identity_has_a_digest_with_and_one_without_its_version() -> None:
    """Cassettes outlive a version of the engine, executions do not."""
    base = Identity(name="e", version="1", settings={"a": 1})
    newer = Identity(name="e", version="2", settings={"a": 1})
    other = Identity(name="e", version="1", settings={"a": 2})
    renamed = Identity(name="f", version="1", settings={"a": 1})
    assert base.digest != newer.digest
    assert base.unversioned_digest == newer.unversioned_digest
    assert len({one.digest for one in (base, newer, other, renamed)}) == 4
    assert len({one.unversioned_digest for one in (base, other, renamed)}) == 3


class Cases:
    """Cases made anew each time they are asked for."""

    def __iter__(self) -> Iterator[Case]:
        return iter([Case(id="a"), Case(id="b")])


def test_cases_may_be_made_one_by_one() -> None:
    """A re-iterable source is kept as it is, and written as the list it stands for."""
    source = Cases()
    lazy = Suite(id="s", format="f", root="/", cases=source)
    assert lazy.cases is source
    assert Suite.model_validate_json(lazy.model_dump_json()).cases == (Case(id="a"), Case(id="b"))


def test_a_list_of_cases_is_copied_and_checked() -> None:
    """A list becomes a tuple, dicts in it become cases, and a bad one is refused."""
    listed: list[Any] = [Case(id="a"), {"id": "b"}]
    made = Suite(id="s", format="f", root="/", cases=listed)
    listed.clear()
    assert made.cases == (Case(id="a"), Case(id="b"))
    with pytest.raises(ValidationError):
        Suite(id="s", format="f", root="/", cases=[{"id": "b", "unknown": 1}])  # type: ignore[list-item]  # the point


@pytest.mark.parametrize("source", [iter(()), 7], ids=["iterator", "number"])
def test_cases_that_could_be_read_only_once_are_refused(source: Any) -> None:
    """A plan reads the cases several times, so an exhausted iterator would be an empty suite."""
    with pytest.raises(ValidationError, match="cases must be iterable"):
        Suite(id="s", format="f", root="/", cases=source)


def test_a_suites_warnings_are_not_written() -> None:
    """Warnings are for the user of this run, not part of the suite."""
    warned = Suite(id="s", format="f", root="/", warnings=(Problem("suite.odd", "odd"),))
    assert warned.warnings[0].code == "suite.odd"
    assert "odd" not in warned.model_dump_json()


def test_the_three_ways_to_score() -> None:
    """A passed score is full credit, a failed one may be partial, an ungraded one has no value at all."""
    assert (Score.passed().status, Score.passed().value) == (ScoreStatus.PASSED, 1.0)
    failed = Score.failed("half", value=0.5, evidence={"seen": (1,)})
    assert (failed.status, failed.value, failed.reason) == (ScoreStatus.FAILED, 0.5, "half")
    assert failed.evidence == {"seen": (1,)}
    assert Score.failed("all wrong").value == 0.0
    assert (Score.ungraded("down").status, Score.ungraded("down").value) == (ScoreStatus.UNGRADED, None)


@pytest.mark.parametrize("value", [-0.01, 1.01])
def test_a_score_lies_between_none_and_full_credit(value: float) -> None:
    """A scorer that computes its value wrongly is found out at once."""
    with pytest.raises(ValidationError):
        Score.failed("odd", value=value)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Verdict, "pass fail error skipped"),
        (ScoreStatus, "passed failed ungraded"),
        (Blame, "target infrastructure agent_limit"),
        (LimitOutcome, "fail error graded"),
        (VerdictMode, "all each mean"),
        (ArmKind, "direct agent"),
        (TargetKind, "skill hook agent command"),
        (SkillRole, "candidate distractor previous"),
        (EventKind, "message reasoning tool_call tool_result notice user"),
        (RunState, "running finished interrupted stopped"),
        (
            FailureClass,
            "timeout crash protocol rejected network auth rate_limited overloaded server bad_request model_not_found "
            "context_too_long refused max_turns budget launch sandbox setup killed arm_integrity internal",
        ),
    ],
)
def test_the_words_of_documents_are_frozen(kind: type[StrEnum], words: str) -> None:
    """Stored results use these words; changing one is a new major version of the schema."""
    assert [str(word) for word in kind] == words.split()


def test_a_suite_asks_for_nothing_unless_it_says_so() -> None:
    """One direct arm, no comparison, no gate of its own, and no default that a user would have to take back."""
    plain = Suite(id="s", format="f", root="/")
    assert (plain.arms, DIRECT.name, DIRECT.kind) == ((DIRECT,), "direct", ArmKind.DIRECT)
    assert (plain.comparisons, plain.gates, plain.on_agent_limit) == ((), (), LimitOutcome.FAIL)
    assert plain.defaults.model_dump(exclude_defaults=True) == {}
    assert (plain.defaults.baseline, plain.defaults.cache_baseline) == (True, False)
    assert Suite.model_validate({"id": "s", "format": "f", "root": "/", "defaults": {"runs": 1}}).defaults.runs == 1


def test_an_arm_that_is_also_a_candidate_is_no_mere_baseline() -> None:
    """Of a chain of comparisons only the last arm serves no other end than to be compared with."""
    chain = (Comparison(candidate="new", baseline="old"), Comparison(candidate="old", baseline="none"))
    assert Suite(id="s", format="f", root="/", comparisons=chain).mere_baselines == {"none"}
    assert Suite(id="s", format="f", root="/").mere_baselines == set()


@pytest.mark.parametrize("target", [None, Target(id="t", kind=TargetKind.SKILL)])
def test_a_trial_knows_the_group_that_its_result_is_in(target: Target | None) -> None:
    """Results are looked up by it before they are there; the trial of a suite without targets has none."""
    trial = Trial(
        trial_id="i",
        execution_id="x",
        ordinal=0,
        suite_id="s",
        case_index=0,
        repeat=1,
        case=Case(id="c"),
        target=target,
        arm=Arm(name="with", kind=ArmKind.AGENT),
        runner=Identity(name="engine"),
        model="model",
        seed=0,
        limits=Limits(),
    )
    target_id = target.id if target else None
    assert trial.group == GroupKey("s", target_id, "with", "engine", "model")
    assert trial.target_digest == (target.digest if target else None)


def test_unknown_is_null() -> None:
    """What was not measured is neither 0 nor empty, in the value and in its JSON."""
    usage = json.loads(Usage().model_dump_json())
    assert set(usage.values()) == {None}
    execution = Execution()
    assert (execution.duration_s, execution.usage, execution.exit_code) == (None, None, None)


def test_an_empty_summary_claims_nothing() -> None:
    """A run without a summary has no groups and counts nothing."""
    assert Summary.empty() == Summary(counts=Counts(), groups=())
    assert set(Counts().model_dump().values()) == {0}


def test_a_failure_says_whose_it_is() -> None:
    """Class and blame have no default: whoever reports a failure has to decide."""
    with pytest.raises(ValidationError) as caught:
        Failure.model_validate({"message": "m"})
    assert {error["loc"][0] for error in caught.value.errors()} == {"failure_class", "blame"}


@pytest.mark.parametrize(("cls", "name"), [(Trial, "repeat"), (TrialResult, "attempts")])
def test_repeats_and_attempts_count_from_one(cls: type[Frozen], name: str) -> None:
    """The zeroth repeat or attempt does not exist."""
    with pytest.raises(ValidationError) as caught:
        cls.model_validate({name: 0})
    assert "greater_than_equal" in {error["type"] for error in caught.value.errors() if error["loc"] == (name,)}


def test_image_of_a_case_is_part_of_what_is_executed() -> None:
    """Files of an image change the execution and its recipe; a case without any keeps the digest that it had."""
    plain = Case(id="a", prompt="p")
    imaged = [
        Case(id="a", prompt="p", image_files=(FileSpec(path="Dockerfile", text=text),)) for text in ("FROM a", "FROM b")
    ]
    assert len({case.execution_digest for case in (plain, *imaged)}) == 3
    assert plain.execution_digest == digest(None, "p", [], (), EMPTY)


def test_an_arms_digest_covers_what_it_installs() -> None:
    """Kind, name, content and files of each thing; without any it is what it was before there were such things."""
    one = Install(kind="rule", name="plain", content={"text": "a"}, files=(FILE,))
    arm = Arm(name="with", kind=ArmKind.AGENT, installs=(one,))
    changes: list[dict[str, Any]] = [{"kind": "agent"}, {"name": "x"}, {"content": {"text": "b"}}, {"files": ()}]
    others = [Arm(name="with", kind=ArmKind.AGENT, installs=(one.model_copy(update=change),)) for change in changes]
    assert len({arm.digest, Arm(name="with", kind=ArmKind.AGENT).digest, *(other.digest for other in others)}) == 6


@pytest.mark.parametrize(
    ("cls", "values", "name", "words"),
    [
        (FileChange, {"path": "a"}, "change", ("created", "modified", "deleted")),
        (FiredSkill, {"name": "a"}, "how", ("invoked", "read", "explicit")),
        (Block, {"tool": "a"}, "by", ("hook", "permission", "sandbox")),
    ],
)
def test_closed_vocabularies(cls: type[Frozen], values: dict[str, str], name: str, words: tuple[str, ...]) -> None:
    """Each word is stored as it is written, and no other is taken."""
    for word in words:
        made = cls.model_validate({**values, name: word})
        assert made.model_dump_json(exclude_defaults=True) == json.dumps({**values, name: word}, separators=(",", ":"))
    with pytest.raises(ValidationError) as caught:
        cls.model_validate({**values, name: words[0].upper()})
    assert [error["type"] for error in caught.value.errors()] == ["literal_error"]


def test_cases_and_checks_share_the_names_of_their_fields() -> None:
    """R3-V8: a set of the names that were given, for each of them, took as much memory as all the rest of a case."""
    case = Case.model_validate({"id": "a", "prompt": "p", "checks": ({"id": "c", "scorer": "exact"},)})
    other = Case(id="b", checks=(Check(id="c", scorer="exact"),))
    assert case.model_fields_set is other.model_fields_set
    assert case.checks[0].model_fields_set is other.checks[0].model_fields_set
    assert case.model_fields_set == set(Case.model_fields)
    assert case.model_copy(update={"id": "b"}).model_fields_set is other.model_fields_set
