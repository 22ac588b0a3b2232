"""Turns what can go wrong with a database server into errors that say what to do."""

from __future__ import annotations

import psycopg

from skillgauge.api import StoreError
from skillgauge_stored_runs import AGAIN, trouble

GRANTS = "Let the owner of the tables grant it; the page on a team's database lists what readers and writers need."

_TRANSIENT = ("40001", "40P01")
"""Serialization failure and deadlock: the same transaction may succeed now."""
_LOST = ("08", "25P03", "57P01", "57P02", "57P03", "57P05")
"""Classes and codes of a connection that is gone: it failed, or the server shuts down or starts."""
_BY_CODE: tuple[tuple[str, str, str, str], ...] = (
    ("53100", "store.disk-full", "the server of {place} has no space left", f"Free some space there, {AGAIN}."),
    ("53300", "store.busy", "the server of {place} takes no more connections", f"Close some of them, {AGAIN}."),
    ("58030", "store.io", "the server of {place} cannot read or write its files", f"Check its disk, {AGAIN}."),
    (
        "25006",
        "store.not-writable",
        "{place} is read-only, as that of a standby is",
        "Name the server that takes writes with --store.",
    ),
    ("42501", "store.not-allowed", "the role of this connection has no right to this in {place}", GRANTS),
    (
        "57014",
        "store.busy",
        "the server of {place} cancelled a statement",
        f"Look for its timeouts and locks, {AGAIN}.",
    ),
    ("55P03", "store.busy", "a row of {place} was locked for too long", f"Look for who holds it, {AGAIN}."),
    (
        "42",
        "store.damaged",
        "the tables of {place} are not as this program makes them",
        "Restore them from a backup, or name another database with --store.",
    ),
    ("XX", "store.damaged", "{place} is damaged", "Restore it from a backup, or name another database with --store."),
)


def is_transient(error: psycopg.Error) -> bool:
    """Tell whether the same transaction may succeed if it is tried again at once."""
    return error.sqlstate in _TRANSIENT


def is_lost(error: psycopg.Error, db: psycopg.Connection | None) -> bool:
    """Tell whether the connection is gone, or could not be made."""
    if error.sqlstate:
        return error.sqlstate.startswith(_LOST)
    return db is None or db.closed


def damaged(place: str, reason: str) -> StoreError:
    """A database of ours that does not hold what it must."""
    hint = "Restore it from a backup, or name another database with --store."
    return trouble("store.damaged", f"{place} is damaged ({reason})", hint)


def unreachable(error: psycopg.Error, place: str) -> StoreError:
    """A server that did not let this program in."""
    hint = "Check the address, the role and its password, and that the server runs; `psql` takes the same address."
    return trouble("store.unreachable", f"{place} cannot be opened: {_reason(error)}", hint)


def disconnected(error: psycopg.Error, place: str, waited_s: float) -> StoreError:
    """A connection that was lost and could not be made again."""
    message = f"the connection to {place} was lost, and not to be had again within {waited_s:g} s: {_reason(error)}"
    return trouble("store.disconnected", message, f"See that the server runs, {AGAIN}.")


def explain(error: psycopg.Error, place: str) -> StoreError:
    """Return the meaning of an error that the server gave."""
    state = error.sqlstate or ""
    for prefix, code, message, hint in _BY_CODE:
        if state.startswith(prefix):
            return trouble(code, f"{message.format(place=place)} ({_reason(error)})", hint)
    return trouble("store.failed", f"{place}: {_reason(error)} ({state or type(error).__name__})")


def _reason(error: psycopg.Error) -> str:
    """One line; rows, which the details of an error may quote, are left out."""
    return " ".join(str(error.diag.message_primary or error).split())
