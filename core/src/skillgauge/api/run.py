"""The application, for plugins that add commands: options, one evaluation, stored runs and output."""

from __future__ import annotations

from ._lazy import door_of

_door = door_of(__name__, __file__)
__all__ = tuple(sorted(_door.homes))


def __getattr__(name: str) -> object:
    value = globals()[name] = _door.get(name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
