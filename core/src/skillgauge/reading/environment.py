"""The only place that reads the process environment."""

from __future__ import annotations

import os
from collections.abc import Mapping


def host_environment() -> Mapping[str, str]:
    """The process environment, for those who build another one from it by an allow list, or look for settings."""
    return os.environ
