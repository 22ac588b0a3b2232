"""Regular expressions that others wrote, compiled where they cannot hurt."""

from .compiling import PatternError, compiled
from .javascript import from_javascript
from .literal import alternatives

__all__ = ["PatternError", "alternatives", "compiled", "from_javascript"]
