"""An immutable class behaves as a frozen dataclass of the same fields does."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgauge_documents.immutables import immutable


@immutable
class Ours:
    """Every kind of field that is in use."""

    name: str
    count: int | None = 0
    parts: tuple[int, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)
    ignored: float = field(default=0.0, compare=False)

    @cached_property
    def double(self) -> int:
        """A value that is computed once."""
        return 2 * (self.count or 0)


@dataclass(frozen=True)
class Theirs:
    """The same fields."""

    name: str
    count: int | None = 0
    parts: tuple[int, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)
    ignored: float = field(default=0.0, compare=False)


@immutable
class Node:
    """A value that can hold itself, by way of a list."""

    below: list[Node]


@immutable
class Shouting:
    """A class with a method of its own."""

    name: str

    def __repr__(self) -> str:
        return self.name.upper()


VALUES = st.tuples(
    st.text(max_size=2),
    st.none() | st.integers(0, 2),
    st.tuples() | st.tuples(st.integers(0, 2)),
    st.sampled_from(["", "x"]),
    st.floats(allow_nan=False),
)


@given(VALUES, VALUES)
def test_it_is_compared_hashed_and_shown_as_a_frozen_dataclass(
    one: tuple[object, ...], other: tuple[object, ...]
) -> None:
    """Equal where the other is, with the same digest and the same text."""
    ours, theirs = [Ours(*one), Ours(*other)], [Theirs(*one), Theirs(*other)]  # type: ignore[arg-type]

    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert [hash(value) for value in ours] == [hash(value) for value in theirs]
    assert [repr(value).replace("Ours", "Theirs") for value in ours] == [repr(value) for value in theirs]
    assert asdict(ours[0]) == asdict(theirs[0])
    assert ours[0] != theirs[0]


def test_no_field_can_be_set_again_or_deleted_and_none_added() -> None:
    """The first value of a field is its only one."""
    value = Ours("a")

    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        value.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        value.other = 1  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'count'"):
        del value.count
    assert value == Ours("a")


def test_what_dataclasses_offers_works_on_it() -> None:
    """`replace`, `fields` and patterns know its fields, and a value can be computed once."""
    value = replace(Ours("a", 3), name="b")

    assert value == Ours("b", 3)
    assert [each.name for each in fields(value)] == ["name", "count", "parts", "secret", "ignored"]
    assert value.double == 6
    match value:
        case Ours("b", count):
            assert count == 3
        case _:
            pytest.fail("it has no positions")


def test_copies_and_pickles_are_equal_and_as_immutable() -> None:
    """No way to a second one leads around the rules."""
    value = Ours("a", 3, (1,), "x", 2.0)
    for made in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert made == value
        with pytest.raises(FrozenInstanceError):
            made.name = "b"


def test_what_holds_itself_is_shown_and_what_a_class_says_itself_counts() -> None:
    """Text of what holds itself ends, and a method of the class is left alone."""
    node = Node([])
    node.below.append(node)

    assert repr(node) == "Node(below=[...])"
    assert repr(Shouting("a")) == "A"
    assert Shouting("a") == Shouting("a")
