"""In a dry run, what is missing on this machine is a warning."""

from __future__ import annotations

import pytest

from skillgauge.errors import Problem, Severity
from skillgauge.plan.checks.dry_run import weighed


@pytest.mark.parametrize(
    ("code", "severity", "dry_run", "expected"),
    [
        ("engine.none", Severity.ERROR, True, Severity.WARNING),
        ("engine.none", Severity.ERROR, False, Severity.ERROR),
        ("engine.none", Severity.WARNING, False, Severity.WARNING),
        ("usage.judges", Severity.ERROR, True, Severity.ERROR),
        ("usage.judges", Severity.ERROR, False, Severity.ERROR),
        ("plugin.options", Severity.ERROR, True, Severity.ERROR),
    ],
)
def test_weighed(code: str, severity: Severity, dry_run: bool, expected: Severity) -> None:
    """Only the severity changes, and never that of a mistake in the command itself."""
    problem = Problem(code, "message", hint="hint", severity=severity)
    (answer,) = weighed([problem], dry_run=dry_run)
    assert answer == Problem(code, "message", hint="hint", severity=expected)
