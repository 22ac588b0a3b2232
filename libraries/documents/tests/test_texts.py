"""Values with other texts: all texts are reached, and what has none of them stays the same object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from skillgauge_documents import FrozenDict, texts_in
from skillgauge_documents.texts import texts_and_content, with_texts


class Model(BaseModel):
    """A model."""

    text: str
    rest: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Data:
    """A dataclass."""

    text: str
    number: int = 1


VALUES = st.recursive(
    st.text("abc", max_size=3) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=12,
)


def changed(value: Any) -> Any:
    """With every `a` made an `x`."""
    return with_texts(value, lambda text: text.replace("a", "x"), lambda content: content.replace(b"a", b"x"))


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("cab", "cxb"),
        (b"cab", b"cxb"),
        (bytearray(b"a"), bytearray(b"x")),
        ({"a": ["b", "a"]}, {"x": ["b", "x"]}),
        (FrozenDict({"b": ("a",)}), FrozenDict({"b": ("x",)})),
        (Model(text="b", rest=("a", 1)), Model(text="b", rest=("x", 1))),
        ([Data("a")], [Data("x")]),
    ],
    ids=repr,
)
def test_kinds_of_values(value: Any, wanted: Any) -> None:
    """Each is made anew as what it was."""
    assert (changed(value), type(changed(value))) == (wanted, type(value))


@pytest.mark.parametrize("value", ["b", b"b", {"b": ["c", 1]}, (Model(text="b"), Data("c")), Data, None, 1.5], ids=repr)
def test_what_has_none_of_them_stays_itself(value: Any) -> None:
    """Not even a copy is made."""
    assert changed(value) is value


@given(VALUES)
def test_every_text_is_reached(value: Any) -> None:
    """None is left, and all else is as it was."""
    assert sorted(texts_in(changed(value))) == sorted(text.replace("a", "x") for text in texts_in(value))
    assert not any("a" in text for text in texts_in(changed(value)))


NESTED = st.recursive(
    st.text("abc", max_size=3) | st.integers() | st.none() | st.binary(max_size=3) | st.builds(Data, st.text("abc")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3).map(FrozenDict)
        | st.builds(Model, text=st.text("abc", max_size=3), rest=st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=12,
)


@given(NESTED)
def test_what_would_be_replaced_is_found(value: Any) -> None:
    """The same texts and the same content, each as often as it is there."""
    texts, content = list[str](), list[bytes]()

    def text_seen(text: str) -> str:
        texts.append(text)
        return text

    def content_seen(part: bytes) -> bytes:
        content.append(part)
        return part

    with_texts(value, text_seen, content_seen)
    found = texts_and_content(value)
    assert (sorted(found[0]), sorted(found[1])) == (sorted(texts), sorted(content))
