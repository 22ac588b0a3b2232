"""Values, protocols and errors for plugins of every kind.

Three more doors stand beside it: `skillgauge.api.run` for plugins that add commands, `skillgauge.api.report` for those
that read or print results, and `skillgauge.stats`. Every other module may change without notice. The stub beside a
door, which type checkers and editors read, is the list of its names.
"""

from __future__ import annotations

from ._lazy import Door

_door = Door(__name__, __file__)
__all__ = tuple(_door.names())
__getattr__, __dir__ = _door.get, _door.names
