"""The opinions of people on what judges have decided, and the file that keeps them."""

from .grading import (
    Grader,
    Judged,
    JudgedRun,
    answer_digest,
    judge_name,
    judged_evidence,
    judged_of,
    named_judges,
    statements_of,
)
from .labels import Label, Line, append, by_key, label_of, labels_so_far, mismatches, read_labels
from .questions import Question, questions, without_label

__all__ = [
    "Grader",
    "Judged",
    "JudgedRun",
    "Label",
    "Line",
    "Question",
    "answer_digest",
    "append",
    "by_key",
    "judge_name",
    "judged_evidence",
    "judged_of",
    "label_of",
    "labels_so_far",
    "mismatches",
    "named_judges",
    "questions",
    "read_labels",
    "statements_of",
    "without_label",
]
