"""The files by which a pull request tries to run code of its own on a runner of CI, and the trace if it does."""

from __future__ import annotations

from pathlib import Path

MODULES = (
    *("json", "os", "re", "runpy", "secrets", "site", "sitecustomize", "ssl", "subprocess", "tempfile", "urllib"),
    *("usercustomize", "venv", "ensurepip", "pip", "click", "pydantic", "yaml", "skillgauge"),
)
"""What Python, pip and skillgauge import; each is laid out as a package that can also be executed."""

NAMES = (
    *("--plugin=evil.py", "evil.py", "--trust-config", "--config=x", "--json", "--no-color"),
    *("two words", "two\nlines", "$(touch owned)", "*", "ünïcode"),
)
"""Names of files which, as words of a command line, would be options, several words or commands of a shell.

None of them, taken for an option, would keep another one from being taken for one, as `--` and `--help` would.
"""


class HostileCheckout:
    """A checkout that holds those files.

    Args:
        folder: the checkout.
        trace: where whatever of it is executed leaves its name; outside of the checkout.
    """

    def __init__(self, folder: Path, trace: Path) -> None:
        self._trace = trace
        for name in NAMES:
            (folder / name).write_text(self._code(name))
        for name in MODULES:
            package = folder / name
            package.mkdir()
            for part in ("__init__", "__main__"):
                (package / f"{part}.py").write_text(self._code(f"{name}/{part}"))
        (folder / "x").write_text("{}")  # a configuration that can be read

    def executed(self) -> list[str]:
        """Return the files that were executed."""
        return self._trace.read_text().splitlines() if self._trace.exists() else []

    def _code(self, name: str) -> str:
        return f"with open({str(self._trace)!r}, 'a') as trace:\n    trace.write({name!r} + '\\n')\n"
