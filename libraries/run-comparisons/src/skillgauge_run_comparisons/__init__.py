"""The difference between two runs, skill by skill and case by case, and whether a skill got worse."""

from .comparison import compare
from .document import DiffDocument
from .inputs import Report, Terms
from .regression import MAX_DROP

__all__ = ["MAX_DROP", "DiffDocument", "Report", "Terms", "compare"]
