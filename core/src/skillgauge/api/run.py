"""The application, for plugins that add commands: options, one evaluation, stored runs and output."""

from __future__ import annotations

from ._lazy import Door

_door = Door(__name__, __file__)
__all__ = tuple(_door.names())
__getattr__, __dir__ = _door.get, _door.names
