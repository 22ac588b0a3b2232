"""Assertions as promptfoo writes them, for every format that reads them."""

from .programs import FOLDER, program
from .reading import FILE, Node, Reading
from .rules import PROGRAMS, REFUSED, RULES, TYPES, Given, Made, RefusalError
from .templates import TemplateError, Vars, as_text, filled, filled_value, partly_filled, resolved
from .tests_in_files import variables, written_tests
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
    "partly_filled",
    "program",
    "resolved",
    "variables",
    "written_tests",
]
