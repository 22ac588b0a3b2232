"""Values that nobody can change, and texts that are found however they are spelt."""

from __future__ import annotations

import json
import math
import pickle
import re
import types
from collections.abc import Callable, Iterator, Mapping
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgauge_documents import MAX_DEPTH, FrozenDict, freeze, texts_in, thaw
from skillgauge_documents.redaction.spellings import Spellings

quick = settings(max_examples=40, deadline=None)
texts = st.text(max_size=6)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
jsons: st.SearchStrategy[Any] = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def nested(levels: int, leaf: object = None) -> object:
    """A value inside that many lists."""
    for _ in range(levels):
        leaf = [leaf]
    return leaf


def parts_of(value: object) -> Iterator[object]:
    """A value and everything inside it."""
    yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    for part in inner:
        yield from parts_of(part)


# --- freeze and thaw --------------------------------------------------------------------------------------


@quick
@given(jsons)
def test_thaw_undoes_freeze(value: object) -> None:
    """Freezing loses nothing: thawed, the value is what it was, ints still ints and booleans still booleans."""
    back = thaw(freeze(value))
    assert back == value
    assert json.dumps(back) == json.dumps(value)


class _Text(str):
    """A text of another type."""

    __slots__ = ()


ODD: tuple[Any, ...] = (
    *(7, 2**64, -(2**64), 10**4000, 10**5000, 2.5, math.nan, -math.inf),
    *("b", "é", "\ud800", _Text("c"), True, None, [1], {"a": [1]}, object()),
)
"""Items that are fine, that need a look of their own, and that are refused."""


@pytest.mark.parametrize("many", [1, 1.5, "a"])
@pytest.mark.parametrize("odd", ODD, ids=map(str, range(len(ODD))))
def test_a_long_list_is_frozen_as_each_of_its_items(many: object, odd: object) -> None:
    """Numbers and texts that are looked at all together are refused and copied as if alone."""
    for items in ([many] * 40 + [odd], [odd] * 40, (odd, *[many] * 40)):
        try:
            alone = tuple([freeze(item) for item in items])
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))):
                freeze(items)
        else:
            together = freeze(items)
            assert repr(together) == repr(alone)
            assert isinstance(together, tuple)
            assert list(map(type, together)) == list(map(type, alone))


@quick
@given(jsons)
def test_a_frozen_value_holds_nothing_mutable(value: object) -> None:
    """However deep, every list has become a tuple and every dict one that refuses changes."""
    kinds = {type(part) for part in parts_of(freeze(value))}
    assert {kind for kind in kinds if not issubclass(kind, FrozenDict)} <= {tuple, str, int, float, bool, type(None)}


def test_what_is_frozen_is_not_copied_again() -> None:
    """Only what `freeze` made counts: a read-only dict that somebody else made may hold a list."""
    frozen = freeze({"a": [1], "b": {"c": {}}})
    assert freeze(frozen) is frozen
    assert freeze(pickle.loads(pickle.dumps(frozen))) == frozen
    foreign = FrozenDict({"a": [1]})
    assert freeze(foreign) == {"a": (1,)}
    assert type(freeze(foreign)["a"]) is tuple


def test_a_frozen_value_is_a_copy() -> None:
    """Changing the source afterwards, also far inside, changes nothing."""
    source: dict[str, Any] = {"a": [{"b": [1]}]}
    frozen = freeze(source)
    source["a"][0]["b"].append(2)
    source["c"] = 1
    assert frozen == {"a": ({"b": (1,)},)}


def test_a_thawed_value_is_a_copy() -> None:
    """A library may change what it was given without reaching the frozen value."""
    frozen = freeze({"a": [{"b": 1}]})
    thawed = thaw(frozen)
    thawed["a"][0]["b"] = 2
    thawed["a"].append(3)
    assert frozen == {"a": ({"b": 1},)}


CHANGES: dict[str, Callable[[Any], object]] = {
    "set": lambda value: value.__setitem__("a", 2),
    "delete": lambda value: value.__delitem__("a"),
    "clear": lambda value: value.clear(),
    "pop": lambda value: value.pop("a"),
    "popitem": lambda value: value.popitem(),
    "setdefault": lambda value: value.setdefault("b", 2),
    "update": lambda value: value.update(b=2),
    "in-place or": lambda value: value.__ior__({"b": 2}),
    "attribute": lambda value: setattr(value, "b", 2),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_frozen_dict_refuses_every_change(change: Callable[[Any], object]) -> None:
    """There is no method of a dict that changes a value of the kind, at any depth."""
    outer = freeze({"a": {"a": 1}})
    assert isinstance(outer, Mapping)
    for value in (outer, outer["a"]):
        with pytest.raises((TypeError, AttributeError)):
            change(value)
    assert outer == {"a": {"a": 1}}


class Word(StrEnum):
    """A string that is more than a string."""

    ONE = "one"


class OldWord(str, Enum):  # noqa: UP042 - the kind of enum whose str() is not its text
    """A string whose `str()` is its name."""

    ONE = "one"


class Number(IntEnum):
    """An int that is more than an int."""

    ONE = 1


class Precise(float):
    """A float that is more than a float."""


@pytest.mark.parametrize(
    ("value", "plain"),
    [(Word.ONE, "one"), (OldWord.ONE, "one"), (Number.ONE, 1), (Precise(1.5), 1.5)],
    ids=["StrEnum", "str with Enum", "IntEnum", "float"],
)
def test_subclasses_of_plain_types_become_plain(value: object, plain: object) -> None:
    """What is frozen is the text or number that JSON would show, and its type is the plain one."""
    frozen = freeze(value)
    assert frozen == plain
    assert type(frozen) is type(plain)


def test_any_mapping_is_taken() -> None:
    """A read-only view of a dict is as good as a dict."""
    assert isinstance(freeze(types.MappingProxyType({"a": 1})), FrozenDict)


REFUSED: dict[str, tuple[object, str]] = {
    "NaN": (math.nan, "not a JSON number"),
    "infinity": (math.inf, "not a JSON number"),
    "minus infinity": (-math.inf, "not a JSON number"),
    "NaN far inside": ({"a": [math.nan]}, "not a JSON number"),
    "half a surrogate pair": ("ab\ud800", "half a surrogate pair at character 2"),
    "half a pair as key": ({"\udc00": 1}, "half a surrogate pair at character 0"),
    "number as key": ({1: 1}, "key 1 is not a string"),
    "bytes": (b"a", "bytes is not a JSON value"),
    "set": ({1}, "set is not a JSON value"),
    "object": ({"a": object()}, "object is not a JSON value"),
}


@pytest.mark.parametrize(("value", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_json_is_refused(value: object, message: str) -> None:
    """A value that JSON cannot hold is never frozen, and the message names the reason."""
    with pytest.raises(ValueError, match=message):
        freeze(value)


def deepest(leaf: object) -> int:
    """In how many lists a value may lie."""
    levels = MAX_DEPTH - 2
    while levels < 2 * MAX_DEPTH:
        try:
            freeze(nested(levels + 1, leaf))
        except ValueError:
            break
        levels += 1
    return levels


@pytest.mark.parametrize("leaf", [1, "text", "é", 1.5, True], ids=["int", "text", "non-ASCII", "float", "bool"])
def test_the_depth_limit_is_the_same_for_every_leaf(leaf: object) -> None:
    """How deep a value may be nested does not depend on what lies at the bottom."""
    assert deepest(leaf) == deepest(None) == MAX_DEPTH + 1  # the outermost list is level 0
    assert thaw(freeze(nested(MAX_DEPTH, leaf))) == nested(MAX_DEPTH, leaf)


def test_the_depth_limit_holds_for_objects_as_for_lists() -> None:
    """An object counts as a level too, whether anything is in it or not."""
    assert deepest({"a": 1}) == deepest({}) == deepest([]) == deepest([1]) == deepest(None) - 1
    value: object = None
    for _ in range(MAX_DEPTH + 1):
        value = {"a": value}
    assert thaw(freeze(value)) == value
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        freeze({"a": value})


def test_deeper_nesting_is_refused_without_recursion_error() -> None:
    """A hostile file gets an answer, not a stack overflow."""
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        freeze(nested(50_000))


def test_a_number_that_cannot_be_written_is_refused() -> None:
    """Whatever freeze accepts has a JSON text, numbers of thousands of digits included."""
    try:
        frozen = freeze(10**5000)
    except ValueError:
        return
    assert json.dumps(frozen)


@quick
@given(jsons, jsons)
def test_equal_values_have_equal_hashes(one: object, other: object) -> None:
    """What is equal is found again in a set; a hash never fails."""
    pairs = [(freeze({"k": one}), freeze({"k": other})), (freeze({"k": 1}), freeze({"k": 1.0}))]
    for left, right in pairs:
        assert hash(left) == hash(freeze(thaw(left)))
        if left == right:
            assert hash(left) == hash(right)


@quick
@given(jsons)
def test_texts_are_found_at_any_depth(value: object) -> None:
    """Every text, as often as it is there, and no key."""
    expected = sorted(part for part in parts_of(value) if isinstance(part, str))
    assert sorted(texts_in(value)) == sorted(texts_in(freeze(value))) == expected


# --- spellings --------------------------------------------------------------------------------------------


def test_what_is_found_has_the_mark_of_its_text() -> None:
    """Where two texts are spelt alike, the first one's mark stands there; without any text nothing changes."""
    found = Spellings({"first-text": "[1]", "txet-tsrif": "[2]", "another-one": "[3]"})
    assert found.replaced("a first-text, a txet-tsrif and another%2Done") == "a [1], a [1] and [3]"
    assert Spellings().replaced("first-text") == "first-text"


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_bytes_stay_what_they_are(kind: Callable[[bytes], Any]) -> None:
    """A mark in place of the text, or as many asterisks; the same object if there is nothing in it."""
    found, clean = Spellings({"s\u00e9cret-text": "[\u00e9]"}), kind(b"\xff\x00")
    content = kind(b"\xff" + "s\u00e9cret-text".encode() + b"\x00")
    assert found.replaced_in_bytes(content) == kind(b"\xff" + "[\u00e9]".encode() + b"\x00")
    assert found.replaced_in_bytes(content, masked=True) == kind(b"\xff" + b"*" * 12 + b"\x00")
    assert type(found.replaced_in_bytes(content)) is type(content)
    assert found.replaced_in_bytes(clean) is clean
