"""The forms by which people name a run, keep a note beside it and label it, and note and tag its trials."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from pydantic import ValidationError

from skillgauge.api import RunNotes, TrialNotes, UsageError, plain
from skillgauge.api.run import noted, parsed_labels

_BETWEEN_TAGS = re.compile(r"[\s,]+")


class NotTakenError(Exception):
    """The form cannot be kept; the words say why."""


def seen(notes: RunNotes | TrialNotes) -> str:
    """The state of what is said that a form was made from; it goes with the form, and tells whether that changed."""
    return hashlib.sha256(notes.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()[:32]


def notes_of_form(before: RunNotes, words: Mapping[str, str]) -> RunNotes:
    """Return the words of a form about a run.

    Args:
        before: what is said now.
        words: `name`, `note`, `labels` (`KEY=VALUE`, one in a line), and `seen`.

    Raises:
        NotTakenError: a word is not as it has to be, or somebody else has changed what is said meanwhile.
    """
    _require_unchanged(before, words, "name, note or labels")
    lines = [line.strip() for line in words.get("labels", "").splitlines()]
    note = _note_of(words)
    try:
        labels = parsed_labels([line for line in lines if line])
        return noted(RunNotes(), " ".join(words.get("name", "").split()), note, labels)
    except UsageError as error:
        messages = (f"{plain(one.message, 300)}. {one.hint or ''}".strip() for one in error.problems)
        raise NotTakenError(" ".join(messages)) from None


def trial_notes_of_form(before: TrialNotes, words: Mapping[str, str]) -> TrialNotes:
    """Return the words of a form about a trial.

    Args:
        before: what is said now.
        words: `note`, `tags` (between blanks or commas), and `seen`.

    Raises:
        NotTakenError: as of `notes_of_form`.
    """
    _require_unchanged(before, words, "note or tags")
    tags = {tag for tag in _BETWEEN_TAGS.split(words.get("tags", "")) if tag}
    try:
        return TrialNotes(note=_note_of(words), tags=tuple(sorted(tags)))
    except ValidationError:
        raise NotTakenError(
            "A note has at most 10,000 characters. A trial has at most 20 tags, each of at most 60 letters, digits and "
            "`._/-`, with a letter or digit first. Go back and change it."
        ) from None


def _require_unchanged(before: RunNotes | TrialNotes, words: Mapping[str, str], subject: str) -> None:
    if words.get("seen") != seen(before):
        message = f"Somebody has changed the {subject} meanwhile. Go back, load the page, and try again."
        raise NotTakenError(message)


def _note_of(words: Mapping[str, str]) -> str:
    return "\n".join(words.get("note", "").splitlines())
