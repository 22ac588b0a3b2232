"""Make models from parts of documents, with all that is wrong in words that a person understands."""

from .explaining import validate, with_near_keys
from .results import result_document

__all__ = ["result_document", "validate", "with_near_keys"]
