"""Values and steps that stores of runs share."""

from .budgets import OtherShare, period_of, standing_of
from .groups import Group, compact, group_of, is_selected, new_run_id
from .records import (
    KNOWN_VERSION,
    LARGEST,
    LONG,
    MOST_GROUPS,
    Extra,
    ModelT,
    decode,
    encode,
    is_resumable,
    packed,
    reading,
    signer_of,
)
from .services import share_after, standing_at
from .trajectories import facts_of, result_of, texts_of
from .troubles import AGAIN, trouble

__all__ = [
    "AGAIN",
    "KNOWN_VERSION",
    "LARGEST",
    "LONG",
    "MOST_GROUPS",
    "Extra",
    "Group",
    "ModelT",
    "OtherShare",
    "compact",
    "decode",
    "encode",
    "facts_of",
    "group_of",
    "is_resumable",
    "is_selected",
    "new_run_id",
    "packed",
    "period_of",
    "reading",
    "result_of",
    "share_after",
    "signer_of",
    "standing_at",
    "standing_of",
    "texts_of",
    "trouble",
]
