"""Assertions as promptfoo writes them, for every format that reads them."""

from .programs import FOLDER, program
from .reading import FILE, Node, Reading
from .rules import PROGRAMS, REFUSED, RULES, TYPES, Given, Made, RefusalError
from .templates import TemplateError, Vars, as_text, filled, filled_value, resolved
from .writing import assertions

__all__ = [
    "FILE",
    "FOLDER",
    "PROGRAMS",
    "REFUSED",
    "RULES",
    "TYPES",
    "Given",
    "Made",
    "Node",
    "Reading",
    "RefusalError",
    "TemplateError",
    "Vars",
    "as_text",
    "assertions",
    "filled",
    "filled_value",
    "program",
    "resolved",
]
