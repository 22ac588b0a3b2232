"""httpx without its command-line program.

`import httpx` imports that program as well wherever `rich` and `pygments` are installed, as they are with skillgauge.
That is nearly half of the time that it takes, and nothing here calls the program.
"""

from __future__ import annotations

import sys

__all__ = ["httpx"]

_PROGRAM = "httpx._main"

if "httpx" not in sys.modules:
    sys.modules[_PROGRAM] = None  # type: ignore[assignment]  # its import fails, which httpx is prepared for
    try:
        import httpx
    finally:
        del sys.modules[_PROGRAM]
else:
    import httpx
