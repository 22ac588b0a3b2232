"""Runs as a store gives them back: without their signatures, and with an answer to whose word they are.

A store may have come with a folder, so what it holds is its author's word until a digest says otherwise
that only the holder of the key can make. Each result and each case carries one, over all of its content and over the
run that it belongs to. The summary of a run that has ended carries one over its head and over all of its results in
their order, so that none can be taken out, either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from skillgauge_documents.immutables import immutable

from ..report.progress import Followed, Parted, Progress
from ..types.arms import GroupKey
from ..types.kept import KeptExecution
from ..types.results.runs import ResultOrder, RunInfo, RunSource, RunState, RunView
from ..types.results.trials import TrialResult, Unfinished
from ..types.trial import CaseHead, PlanHead

if TYPE_CHECKING:
    from ..types.results.summaries import Summary

NOT_YOURS = "it is not signed with your key: another user, another machine or an older version wrote it"
CHANGED = "it was changed after it was written"

_BYTES = 16
_NAME_BYTES = 8
_WITHOUT_FRACTION = re.compile(rb"\.0(?=[,}\]])")
"""The end of a whole number in a field for any number, found in a third of the time of three `replace`."""
Signed = TypeVar("Signed", TrialResult, CaseHead, "Summary", Unfinished, KeptExecution)
_KINDS = ("TrialResult", "CaseHead", "Summary", "Unfinished", "KeptExecution")


@immutable
class StoreKey:
    """A secret of the user, with which runs are signed."""

    secret: bytes = field(repr=False)
    """At most 64 bytes."""

    @cached_property
    def name(self) -> str:
        """Tells this key from others, and nothing of what it is."""
        return blake2b(b"name", key=self.secret, digest_size=_NAME_BYTES).hexdigest()


class RunSigner:
    """Signs what belongs to one run, and recognises it.

    Args:
        key: of the user.
        run_id: of the run.
        plan_id: of its plan.
    """

    def __init__(self, key: StoreKey, run_id: str, plan_id: str) -> None:
        run = json.dumps([run_id, plan_id]).encode()
        self._begun = {kind: blake2b(run, key=key.secret, digest_size=_BYTES, person=kind.encode()) for kind in _KINDS}

    def signed(self, value: Signed, more: bytes = b"") -> Signed:
        """The same value with its signature.

        Args:
            value: without a signature.
            more: what it is to stand for beside itself.
        """
        return value.model_copy(update={"signature": self._digest(value, more, _content(value))})

    def signed_by_us(self, value: Signed) -> bool:
        """Tell whether a value is the one that was signed."""
        return self.signed_bytes(unsigned(value), value.signature) > 0

    def signed_bytes(self, value: Signed, signature: str) -> int:
        """Return the length of what was signed.

        Args:
            value: without its signature.
            signature: that came with it.

        Returns:
            0 if the value is not the one that was signed.
        """
        # The time that this takes teaches an attacker nothing: each guess is a row in a file, and an evaluation.
        content = _content(value)
        return len(content) if signature == self._digest(value, b"", content) else 0

    def _digest(self, value: Signed, more: bytes, content: bytes) -> str:
        digest = self._begun[type(value).__name__].copy()
        digest.update(b"%d " % len(more))
        digest.update(more)
        digest.update(content)
        return digest.hexdigest()

    def rows(self) -> blake2b:
        """A digest to be fed with the signatures of all results of the run, in the order of `ResultOrder.CASE`."""
        return self._begun["Summary"].copy()


def run_facts(info: RunInfo, head: PlanHead, rows: bytes) -> bytes:
    """Return the facts that the signature of a summary covers beside it: start of the run, head and results."""
    start = json.dumps([info.state.value, info.started_at]).encode()
    return b"\n".join((start, _content(head.model_copy(update={"signer": ""})), rows))


def unsigned(value: Signed) -> Signed:
    """A value as everybody but a store sees it."""
    return value.model_copy(update={"signature": ""}) if value.signature else value


def _content(value: BaseModel) -> bytes:
    """The JSON of a value that has no signature, equal for equal values.

    A whole number in a field for any number is written without its fraction before it was read from a store, and with
    one afterwards.
    """
    # As `model_dump_json` does it, whose many arguments take as long.
    text: bytes = value.__pydantic_serializer__.to_json(value, exclude_defaults=True)
    return _WITHOUT_FRACTION.sub(b"", text)


def opened(view: RunView, key: StoreKey | None) -> RunView:
    """A stored run without its signatures, which are looked at when `why_foreign` asks."""
    source = view.source
    return RunView(
        run=view.run,
        head=view.head.model_copy(update={"signer": ""}),
        summary=unsigned(view.summary),
        source=FollowedRun(view, source, key) if isinstance(source, Followed) else StoredRun(view, key),
    )


def why_foreign(view: RunView) -> str:
    """Return the reason why a stored run is not this user's own, so that nothing may rest on it; empty if it is.

    A run that does not come from a store is the word of the user who named its file. Reads all of a run; blocks.
    """
    if isinstance(view.source, StoredRun):
        return view.source.why_foreign
    return ""


def why_summary_foreign(view: RunView) -> str:
    """The same of the summary alone, which is read at once; empty for a run that has none yet."""
    if isinstance(view.source, StoredRun):
        return view.source.why_summary_foreign
    return ""


class StoredRun:
    """The results and cases of a stored run, without their signatures.

    Args:
        view: as the store gives it.
        key: of the user, if there is one.
    """

    def __init__(self, view: RunView, key: StoreKey | None) -> None:
        self._view = view
        self._signer: RunSigner | None = None
        if key is not None and view.head.signer == key.name:
            self._signer = RunSigner(key, view.run.run_id, view.head.plan_id)
        self._why: str | None = None
        if isinstance(view.source, Parted):
            self._parted = view.source
            self.abridged, self.of_case, self.of_trial = self._abridged, self._of_case, self._of_trial

    def results(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        """See `RunSource.results`."""
        return map(unsigned, self._view.source.results(order, group))

    def cases(self) -> Iterator[CaseHead]:
        """See `RunSource.cases`."""
        return map(unsigned, self._view.source.cases())

    def _abridged(self, order: ResultOrder, group: GroupKey | None = None) -> Iterator[TrialResult]:
        return map(unsigned, self._parted.abridged(order, group))

    def _of_case(self, suite_id: str, case_index: int) -> Iterator[TrialResult]:
        return map(unsigned, self._parted.of_case(suite_id, case_index))

    def _of_trial(self, ordinal: int) -> TrialResult | None:
        result = self._parted.of_trial(ordinal)
        return unsigned(result) if result else None

    @property
    def why_foreign(self) -> str:
        """See `why_foreign` of the module; read once."""
        if self._why is None:
            self._why = self._read()
        return self._why

    @property
    def why_summary_foreign(self) -> str:
        """See `why_summary_foreign` of the module."""
        if self._signer is None:
            return NOT_YOURS
        rows, _, _ = self._view.summary.signature.partition(".")
        return self._why_rows_foreign(rows)

    def _why_rows_foreign(self, rows: str) -> str:
        if self._is_unfinished or self._is_summary_ours(rows):
            return ""
        return CHANGED

    @property
    def _is_unfinished(self) -> bool:
        """Tell whether the run has no summary yet, as after a kill."""
        ended = (RunState.FINISHED, RunState.STOPPED)
        return self._view.run.state not in ended and not self._view.summary.signature

    def _is_summary_ours(self, rows: str) -> bool:
        view, signer = self._view, self._signer
        if signer is None:
            return False
        ours = signed_summary(signer, unsigned(view.summary), view.run, view.head, _bytes_of(rows))
        return view.summary.signature == ours.signature

    def _read(self) -> str:
        if (why := self.why_summary_foreign) or self._signer is None:
            return why
        rows = rows_of(self._view.source, self._signer, Ordinals())
        if rows is None:
            return CHANGED
        return self._why_rows_foreign(rows.hex())


class FollowedRun(StoredRun):
    """The same of a store that tells how far a run is.

    Args:
        view: as the store gives it.
        followed: its source.
        key: of the user, if there is one.
    """

    def __init__(self, view: RunView, followed: Followed, key: StoreKey | None) -> None:
        super().__init__(view, key)
        self._followed = followed

    def progress(self) -> Progress:
        """See `Followed.progress`."""
        return self._followed.progress()

    def results_since(self, after: int) -> Iterator[tuple[int, TrialResult]]:
        """See `Followed.results_since`."""
        return ((cursor, unsigned(result)) for cursor, result in self._followed.results_since(after))


def rows_of(source: RunSource, signer: RunSigner, ordinals: Ordinals) -> bytes | None:
    """The digest over the signatures of all results; `None` if a result or case is not signed, or is there twice.

    Args:
        source: with signatures.
        signer: of the run.
        ordinals: grows by the places of the results in the plan.
    """
    rows = signer.rows()
    for result in source.results(ResultOrder.CASE):
        if not signer.signed_by_us(result) or not ordinals.add(result.ordinal):
            return None
        rows.update(result.signature.encode())
    if not all(map(signer.signed_by_us, source.cases())):
        return None
    return rows.digest()


def signed_summary(signer: RunSigner, summary: Summary, info: RunInfo, head: PlanHead, rows: bytes) -> Summary:
    """A summary whose signature begins with the digest of the rows that it stands for."""
    signed = signer.signed(summary, run_facts(info, head, rows))
    return signed.model_copy(update={"signature": f"{rows.hex()}.{signed.signature}"})


def _bytes_of(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


class Ordinals:
    """Places in a plan: a byte each, since there may be a million."""

    def __init__(self) -> None:
        self._flags = bytearray()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, ordinal: int) -> bool:
        return ordinal < len(self._flags) and bool(self._flags[ordinal])

    def add(self, ordinal: int) -> bool:
        """Add a place; false if it was there."""
        if ordinal in self:
            return False
        if ordinal >= len(self._flags):
            self._flags.extend(bytes(ordinal + 1 - len(self._flags)))
        self._flags[ordinal] = 1
        self._count += 1
        return True
