"""Deeply immutable, JSON-safe values: the base of every value in the pipeline.

A value is validated and copied once, at the border. After that it can be shared between tasks, threads and
processes, used as a cache key through its digest, and written as JSON without further checks.

The modules of the core's own values do without `from __future__ import annotations`: pydantic would have to compile
the annotation of each field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import core_schema

from .digests import canonical_json, digest, digest_text
from .values import EMPTY, FrozenDict, JsonValue, freeze, freeze_object

__all__ = [
    "EMPTY",
    "Frozen",
    "FrozenDict",
    "Json",
    "JsonObject",
    "Numerous",
    "canonical_json",
    "digest",
    "digest_text",
    "once",
]

if TYPE_CHECKING:
    once = cached_property
else:

    class once(cached_property):  # noqa: N801 - a decorator
        """`functools.cached_property` without the lock of Python 3.11, which costs as much as a short digest.

        Two threads may compute a value at the same time: of what cannot change it is the same.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class _MadeBy:
    """Has pydantic validate a field by a function alone, and write it as it is.

    `PlainValidator` works out the schema of the annotated type as well, twice, to find out how to write it.

    Args:
        make: makes the value of whatever was given.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        as_it_is = core_schema.plain_serializer_function_ser_schema(lambda value: value)
        self._schema = core_schema.no_info_plain_validator_function(make, serialization=as_it_is)

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return self._schema


Json = Annotated[JsonValue, _MadeBy(freeze), WithJsonSchema({})]
"""Field type for any JSON value, deeply immutable once validated."""

JsonObject = Annotated[Mapping[str, JsonValue], _MadeBy(freeze_object), WithJsonSchema({"type": "object"})]
"""Field type for a JSON object, deeply immutable once validated."""


class Frozen(BaseModel):
    """Base of every value in the pipeline: immutable, strict about unknown fields, comparable by content."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Any bound makes pydantic look into the text, and so refuse half a surrogate pair, which JSON cannot hold.
        str_min_length=0,
        # A command uses a third of the models, so each is built when it is first used, but not by a constant, which
        # `model_construct` makes.
        defer_build=True,
        ignored_types=(cached_property,),
    )

    def __eq__(self, other: object) -> bool:
        """Compare by content; defaults, which most fields share, are the same object and take no look."""
        return self is other or super().__eq__(other)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed, not validated again; what the old fields gave is forgotten."""
        if self.__pydantic_extra__ or self.__pydantic_private__:  # of a class that allows more than fields
            return super().model_copy(update=update, deep=deep)
        own = self.__dict__
        # Nothing but fields is in it unless something was computed once, and a whole copy takes a third of the time.
        fields = own.copy() if len(own) == len(self.__pydantic_fields__) else self.told(type(self))
        fields |= update or {}
        return _made(type(self), fields)

    @classmethod
    def of_known(cls, **fields: Any) -> Self:
        """A value whose fields are parts of others, and were validated with them; made in three fifths of the time.

        Args:
            fields: every one that has no default, and none that the class has not: nothing is looked at. What a factory
                makes for those that are left out is made once, for all values.
        """
        return _made(cls, _blank(cls)[0] | fields)

    def told(self, facts: type[Frozen]) -> dict[str, Any]:
        """The fields that this value has in common with others of a base class, to make one of those."""
        own = self.__dict__
        return {name: own[name] for name in facts.__pydantic_fields__}


class Numerous(Frozen):
    """Base of values of which there are as many as cases: none of them knows which of its fields were given.

    Pydantic keeps the names of those in a set for each value, as large as the rest of it. Here they share one set of
    all names, as values have it that `of_known` makes.
    """

    def model_post_init(self, _context: Any, /) -> None:
        """Forget which fields were given."""
        _assign(self, "__pydantic_fields_set__", _blank(type(self))[1])


_assign = object.__setattr__
_FrozenT = TypeVar("_FrozenT", bound=Frozen)


def _made(kind: type[_FrozenT], fields: dict[str, Any]) -> _FrozenT:
    """A value with these fields, which are all that its class has."""
    value = kind.__new__(kind)
    _assign(value, "__dict__", fields)
    _assign(value, "__pydantic_fields_set__", _blank(kind)[1])
    _assign(value, "__pydantic_extra__", None)
    _assign(value, "__pydantic_private__", None)
    return value


@cache
def _blank(kind: type[Frozen]) -> tuple[dict[str, Any], set[str]]:
    """All fields of a class in their order, with their defaults, and their names."""
    fields = kind.model_fields
    return {name: field.get_default(call_default_factory=True) for name, field in fields.items()}, set(fields)
