"""Variables of the user's environment that targets and cases ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ...errors import Origin, Problem
from ...types.inputs import HostVariable
from ...types.suite import Target


def withheld_variables(targets: Iterable[Target], passed: Mapping[HostVariable, Origin | None]) -> Iterator[Problem]:
    """Yield a problem for each target, and for each variable of cases, of a suite that is not trusted.

    Args:
        targets: all of the suites.
        passed: variables that cases ask for, with the place of the first case that does.
    """
    for target in targets:
        if target.pass_env:
            yield _withheld(f"target {target.id!r}", target.pass_env, target.origin)
    for variable, origin in passed.items():
        yield _withheld("a case", [variable.host], origin)


def unset_variables(
    passed: Mapping[HostVariable, Origin | None], value_of: Callable[[str], str | None]
) -> Iterator[Problem]:
    """Yield a problem for each variable that has neither a default nor a value.

    Args:
        passed: variables that cases ask for, with the place of the first case that does.
        value_of: returns the value of a variable; asked only for one without a default.
    """
    for variable, origin in passed.items():
        if variable.default is None and not value_of(variable.host):
            message = f"a case wants {variable.host} from your environment, where it is not set"
            hint = f"Set {variable.host}, or give it a default."
            yield Problem("suite.variable", message, origin=origin, hint=hint)


def _withheld(asker: str, names: Iterable[str], origin: Origin | None) -> Problem:
    message = f"{asker} wants {', '.join(names)} from your environment, which --untrusted withholds"
    return Problem("sandbox.pass-env", message, origin=origin, hint="Take that out of it, or trust it.")
