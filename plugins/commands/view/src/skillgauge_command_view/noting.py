"""The form by which people name a run, keep a note beside it and label it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from skillgauge.api import RunNotes, UsageError, plain
from skillgauge.api.run import noted, parsed_labels


class NotTakenError(Exception):
    """The form cannot be kept; the words say why."""


def seen(notes: RunNotes) -> str:
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
    if words.get("seen") != seen(before):
        raise NotTakenError(
            "Somebody has changed the name, note or labels meanwhile. Go back, load the page, and try again."
        )
    lines = [line.strip() for line in words.get("labels", "").splitlines()]
    note = "\n".join(words.get("note", "").splitlines())
    try:
        labels = parsed_labels([line for line in lines if line])
        return noted(RunNotes(), " ".join(words.get("name", "").split()), note, labels)
    except UsageError as error:
        messages = (f"{plain(one.message, 300)}. {one.hint or ''}".strip() for one in error.problems)
        raise NotTakenError(" ".join(messages)) from None
