"""Texts that a schema marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, Field, SecretStr

from skillgauge_documents.texts import SECRET, marked_texts, texts_with_places

PLACE: dict[str, Any] = {"place": "run"}


class Reply(BaseModel):
    """A part of the options."""

    file: str | None = Field(default=None, json_schema_extra=PLACE)
    text: str = ""


class Options(BaseModel):
    """Options with marks at several depths."""

    script: str | None = Field(default=None, json_schema_extra=PLACE)
    folders: tuple[str, ...] = Field(default=(), json_schema_extra=PLACE)
    replies: tuple[Reply, ...] = ()
    best: Reply | None = None
    by_name: dict[str, Reply] = {}
    pair: tuple[int, Reply] | None = None
    key: SecretStr | None = None
    model: str = ""


def marked(value: object) -> dict[str, str]:
    """The marked texts of options, by place."""
    return dict(marked_texts(Options, value, PLACE, "x"))


def test_marks_at_every_depth() -> None:
    """An option, the items of a list, models in lists, in mappings, behind `None`, and at a place of a tuple."""
    reply = {"file": "f", "text": "t"}
    value = {"script": "s", "folders": ["a", "b"], "replies": [reply], "best": reply, "by_name": {"x": reply}}
    assert marked({**value, "pair": [1, reply], "model": "m"}) == {
        "x.script": "s",
        "x.folders.0": "a",
        "x.folders.1": "b",
        "x.replies.0.file": "f",
        "x.best.file": "f",
        "x.by_name.x.file": "f",
        "x.pair.1.file": "f",
    }


def test_a_value_need_not_be_valid() -> None:
    """What the schema does not foresee is passed over."""
    assert marked({"script": 7, "replies": "text", "best": [1], "unknown": {"file": "f"}}) == {}
    assert marked(["script"]) == {}


def test_secrets_of_pydantic_are_marked_by_their_format() -> None:
    """A `SecretStr` says so in its schema."""
    assert dict(marked_texts(Options, {"key": "k"}, SECRET, "x")) == {"x.key": "k"}


def test_fields_are_found_by_name_and_by_alias() -> None:
    """Whichever of them was set."""

    class Aliased(BaseModel):
        file: str = Field(default="", alias="File", json_schema_extra=PLACE)

    assert dict(marked_texts(Aliased, {"File": "f", "file": "g"}, PLACE, "x")) == {"x.File": "f", "x.file": "g"}


def test_a_model_without_a_schema_marks_nothing() -> None:
    """It may have fields that no JSON Schema can describe."""

    class Odd(BaseModel):
        call: Callable[[], int] | None = None
        file: str = Field(default="", json_schema_extra=PLACE)

    assert dict(marked_texts(Odd, {"file": "f"}, PLACE, "x")) == {}


def test_texts_and_their_places() -> None:
    """Keys are no texts of a value."""
    assert list(texts_with_places({"a": ["x", {"b": "y"}], "c": 1})) == [("a.0", "x"), ("a.1.b", "y")]
