"""Keyed digests by which a user recognises the runs that the user stored.

A store may have come with a folder, so what it holds is its author's word until a digest says otherwise
that only the holder of the key can make. Each result and each case carries one, over all of its content and over the
run that it belongs to. The summary of a run that has ended carries one over its head and over all of its results in
their order, so that none can be taken out, either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar

from pydantic import BaseModel

from ..types.result import RunInfo, Summary, TrialResult, Unfinished
from ..types.trial import CaseHead, PlanHead

_BYTES = 16
_NAME_BYTES = 8
_OWN = {"signature", "signer"}
Signed = TypeVar("Signed", TrialResult, CaseHead, Summary, Unfinished)


@dataclass(frozen=True)
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
        self._begun = {
            kind: blake2b(run, key=key.secret, digest_size=_BYTES, person=kind.__name__.encode())
            for kind in (TrialResult, CaseHead, Summary, Unfinished)
        }

    def signed(self, value: Signed, more: bytes = b"") -> Signed:
        """The same value with its signature.

        Args:
            value: without a signature.
            more: what it is to stand for beside itself.
        """
        return value.model_copy(update={"signature": self._digest(value, more)})

    def signed_by_us(self, value: Signed) -> bool:
        """Whether a value is what was signed."""
        # The time that this takes teaches an attacker nothing: each guess is a row in a file, and an evaluation.
        return value.signature == self._digest(value, b"")

    def _digest(self, value: Signed, more: bytes) -> str:
        digest = self._begun[type(value)].copy()
        digest.update(b"%d " % len(more))
        digest.update(more)
        digest.update(_content(value))
        return digest.hexdigest()

    def rows(self) -> Any:
        """A digest to be fed with the signatures of all results of the run, in the order of `ResultOrder.CASE`."""
        return self._begun[Summary].copy()


def run_facts(info: RunInfo, head: PlanHead, rows: bytes) -> bytes:
    """What the signature of a summary stands for beside the summary: when the run began, its head and its results."""
    return b"\n".join((json.dumps([info.state.value, info.started_at]).encode(), _content(head), rows))


def unsigned(value: Signed) -> Signed:
    """A value as everybody but a store sees it."""
    return value.model_copy(update={"signature": ""}) if value.signature else value


def _content(value: BaseModel) -> bytes:
    """The JSON of a value without its signature, equal for equal values.

    A whole number in a field for any number is written without its fraction before it was read from a store, and with
    one afterwards.
    """
    # As `model_dump_json` does it, whose many arguments take as long.
    text: bytes = value.__pydantic_serializer__.to_json(value, exclude_defaults=True, exclude=_OWN)
    return text.replace(b".0,", b",").replace(b".0}", b"}").replace(b".0]", b"]")
