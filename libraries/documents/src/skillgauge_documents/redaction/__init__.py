"""Keep the values of secrets out of everything that is stored or shown."""

from .redactor import MIN_LENGTH as MIN_LENGTH
from .redactor import Redactor as Redactor
