"""Make models from parts of documents, with all that is wrong in words that a person understands."""

from .explaining import validate

__all__ = ["validate"]
