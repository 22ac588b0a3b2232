"""JSON values that nobody can change, and that JSON can hold: what reading gives, and anybody may share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from .faults import MAX_DEPTH

if TYPE_CHECKING:
    JsonValue: TypeAlias = "bool | int | float | str | tuple[JsonValue, ...] | Mapping[str, JsonValue] | None"
else:
    # A library that builds validators from annotations would try a recursive one, although `freeze` validates.
    JsonValue = Any

_MAX_INT_BITS = 14_000
"""About 4,200 digits: Python itself refuses to write longer ones."""
_SMALL = 1 << 64
"""Above every integer that programs usually write, and far below what has too many digits."""
_FEW = 30
"""So many items are looked at one by one sooner than all together."""


class FrozenDict(dict[str, Any]):
    """A dict that refuses changes.

    A subclass, because `json`, `==` and checks with `isinstance` then treat it like any other dict.
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise TypeError("this value is immutable; make a changed copy with dict(value)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]  # dict is unhashable because it is mutable; this one is not
        # Of the keys: 1 and 1.0 are equal, so values must hash alike, and may be unhashable.
        return hash(frozenset(self))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: Any) -> Any:
        """Return the schema of a default value's type for pydantic: that of any dict."""
        return handler.generate_schema(dict[str, Any])


class _Frozen(FrozenDict):
    """A dict that `freeze` made: all that it holds is frozen, too, so nobody need look at it again."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (dict(self),)


EMPTY: Mapping[str, JsonValue] = _Frozen()


def sealed(members: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """An object of members that are frozen already, each by itself, and not nested too deeply; nothing is looked at."""
    return _Frozen(members)


def freeze(value: object, depth: int = 0) -> JsonValue:
    """Copy a JSON-like value into an immutable one; what is frozen already is not copied again.

    Raises:
        ValueError: a key is no string, a string is not valid Unicode, a number is NaN or infinite, a type is not
            JSON, or nesting exceeds `MAX_DEPTH`.
    """
    if (type(value) is str and value.isascii()) or value is None or value is True or value is False:
        return value  # most values, so they come first
    if isinstance(value, str):
        return _frozen_text(value)
    if isinstance(value, (int, float)):
        return _frozen_number(value)
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, (dict, Mapping)):  # a dict is known at once, any other mapping by asking `abc`
        return value if type(value) is _Frozen and depth == 0 else _frozen_mapping(value, depth)
    if isinstance(value, (list, tuple)):
        return _frozen_items(value, depth)
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def _frozen_mapping(value: Mapping[Any, object], depth: int) -> _Frozen:
    return _Frozen(
        {
            (key if type(key) is str and key.isascii() else _frozen_key(key)): (
                item if (type(item) is str and item.isascii()) or item is None else freeze(item, depth + 1)
            )
            for key, item in value.items()  # most are plain, and a call for each would take as long as all the rest
        }
    )


def _frozen_items(value: list[Any] | tuple[Any, ...], depth: int) -> tuple[JsonValue, ...]:
    if len(value) > _FEW and _are_plain(value):
        return tuple(value)
    return tuple([freeze(item, depth + 1) for item in value])


def freeze_object(value: object) -> JsonValue:
    """As `freeze`, of an object.

    Raises:
        ValueError: it is none, or `freeze` refuses it.
    """
    if type(value) is _Frozen:
        return value  # as most values that have a default
    if not isinstance(value, (dict, Mapping)):
        raise ValueError("must be an object")
    return _frozen_mapping(value, 0)


def _are_plain(values: Sequence[object]) -> bool:
    """Tell whether all are texts or numbers that need no look of their own, as in answers of 100,000 numbers."""
    kinds = set(map(type, values))
    if kinds == {int}:
        numbers = cast("Sequence[int]", values)
        return min(numbers) > -_SMALL and max(numbers) < _SMALL
    if kinds == {float}:
        return all(map(math.isfinite, cast("Sequence[float]", values)))
    return kinds == {str} and all(map(str.isascii, cast("Sequence[str]", values)))


def _frozen_text(value: str) -> str:
    if not value.isascii():
        _require_utf8(value)
    return value if type(value) is str else str.__str__(value)


def _frozen_number(value: float) -> float:
    if isinstance(value, int):
        if value.bit_length() > _MAX_INT_BITS:
            raise ValueError(f"an integer of {value.bit_length()} bits cannot be written as JSON")
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    return float(value)


def _frozen_key(key: object) -> str:
    if isinstance(key, str):
        return key if type(key) is str and key.isascii() else _frozen_text(key)
    raise ValueError(f"key {key!r} is not a string")


def _require_utf8(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"half a surrogate pair at character {error.start} cannot be written as UTF-8") from None


def thaw(value: JsonValue) -> Any:
    """Copy an immutable value into ordinary dicts and lists, for a library that insists on them."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


def texts_in(value: object) -> Iterator[str]:
    """Every text of a JSON value, keys excepted."""
    items = [value]
    for item in items:  # grows meanwhile
        if isinstance(item, Mapping):
            items.extend(item.values())
        elif isinstance(item, (list, tuple)):
            items.extend(item)
        elif isinstance(item, str):
            yield item
