"""Regular expressions that others wrote, compiled where they cannot hurt."""

from .compiling import PatternError, compiled
from .javascript import from_javascript
from .literal import alternatives, folded, unfolded
from .plain import in_python

__all__ = ["PatternError", "alternatives", "compiled", "folded", "from_javascript", "in_python", "unfolded"]
