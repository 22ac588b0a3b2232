"""Regular expressions that others wrote, compiled where they cannot hurt."""

from .compiling import PatternError, compiled
from .javascript import from_javascript

__all__ = ["PatternError", "compiled", "from_javascript"]
