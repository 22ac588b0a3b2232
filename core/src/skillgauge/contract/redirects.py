"""Environment variables by which a user sends the requests of an engine or a judge to another address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from skillgauge_documents.frozen import Frozen

LookUp = Callable[[str], str | None]
"""Gives the value of an environment variable; `None` or an empty text if it is not set."""


class Redirect(Frozen):
    """An environment variable that says where an API is served, such as `ANTHROPIC_BASE_URL`.

    It counts as the key beside it does: where the option is not set, the kernel gives it the value of the variable, so
    that a key which the user has for another server never reaches the vendor's.
    """

    variable: str
    option: str = "base_url"
    """The option that takes the address."""


def redirected(
    redirects: Sequence[Redirect], options: Mapping[str, object], look_up: LookUp
) -> Mapping[str, tuple[str, str]]:
    """Return what the environment says of options that are not set.

    Args:
        redirects: as a plugin declares them; of several for an option, the first that is set counts.
        options: those that are set, by name; `None` as a value is set as well.
        look_up: gives values of variables.

    Returns:
        Variable and value, by option.
    """
    values: dict[str, tuple[str, str]] = {}
    for redirect in redirects:
        value = (look_up(redirect.variable) or "").strip()
        if value and redirect.option not in options:
            values.setdefault(redirect.option, (redirect.variable, value))
    return values


def variable_of(redirects: Sequence[Redirect], address: str, look_up: LookUp) -> str | None:
    """Return the variable that names an address; `None` if none of them does."""
    plain = address.rstrip("/")
    names = (one.variable for one in redirects if (look_up(one.variable) or "").strip().rstrip("/") == plain)
    return next(names, None)
