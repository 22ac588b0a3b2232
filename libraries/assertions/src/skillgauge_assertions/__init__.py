"""Assertions as promptfoo writes them, for every format that reads them."""

from .meaning import DEFAULTS, effective
from .programs import FOLDER, program
from .reading import FILE, Node, Reading
from .rules import PROGRAMS, REFUSED, RULES, TYPES, Given, Made, RefusalError
from .templates import TemplateError, Vars, as_text, filled, filled_value, partly_filled, resolved
from .tests_in_files import variables, written_tests
from .variable_texts import with_variables
from .writing import assertions
from .written_programs import program_assertion

__all__ = [
    "DEFAULTS",
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
    "effective",
    "filled",
    "filled_value",
    "partly_filled",
    "program",
    "program_assertion",
    "resolved",
    "variables",
    "with_variables",
    "written_tests",
]
