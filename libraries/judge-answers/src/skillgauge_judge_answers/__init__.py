"""The answers of judges, and the texts that try to write them."""

from .exhibits import Exhibits, folded
from .objects import Unreadable, marked_object_of, unwrapped, without_thoughts
from .signs import Sign, signs_in

__all__ = [
    "Exhibits",
    "Sign",
    "Unreadable",
    "folded",
    "marked_object_of",
    "signs_in",
    "unwrapped",
    "without_thoughts",
]
