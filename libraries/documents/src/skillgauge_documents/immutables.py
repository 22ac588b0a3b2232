"""Frozen dataclasses that take a fifth of the time to define.

`dataclass(frozen=True)` compiles six methods for each class, and a command imports more than a hundred of them: that
was a fifth of the time of a dry run. Of a class that is `immutable` only `__init__` is compiled; the other methods are
the same functions for all of them. Each call takes longer for that, so what is made for every trial, or found in a
`dict` for every one, stays a frozen dataclass.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from reprlib import recursive_repr
from typing import Any, ClassVar, TypeVar, dataclass_transform

AnyT = TypeVar("AnyT")


class _Methods:
    """The methods that all immutable classes share; nothing is ever made of this class itself."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__ or name not in self.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash(_compared(self))

    @recursive_repr()
    def __repr__(self) -> str:
        shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
        return f"{type(self).__qualname__}({shown})"


def _compared(value: Any) -> tuple[object, ...]:
    return tuple([getattr(value, each.name) for each in fields(value) if each.compare])


_SHARED = {name: vars(_Methods)[name] for name in ("__setattr__", "__delattr__", "__eq__", "__hash__", "__repr__")}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(cls: type[AnyT]) -> type[AnyT]:
    """Make a class a dataclass whose fields are set once, which is compared, hashed and shown by them.

    `fields`, `replace` and `asdict` of `dataclasses` take it as any other. A method that the class has itself is left
    alone. It can have no base and no subclass that is a frozen dataclass.
    """
    own = vars(cls).copy()
    dataclass(repr=False, eq=False)(cls)
    for name, method in _SHARED.items():
        if name not in own:
            setattr(cls, name, method)
    return cls
