"""Pages about runs: templates, style and charts that a file without a server and a viewer have in common."""

from .drawing import asset, content_hash, environment
from .wording import dollars, text

__all__ = ["asset", "content_hash", "dollars", "environment", "text"]
