"""Entry point of the command `skillgauge`; answers `--version` before anything is imported."""

import os
import sys

from ._version import __version__


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"skillgauge {__version__}\n")
        return
    from .cli.process import run  # noqa: PLC0415 - see the module docstring

    sys.exit(run(sys.argv[1:]))


def _leave_current_folder_out() -> None:
    """Take the current folder, which `python -m` puts first, off the import path again."""
    try:
        current = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import than all of `--version`
    except FileNotFoundError:
        return  # a folder that was removed is not on the path either
    if not sys.flags.safe_path and sys.path[:1] == [current]:
        del sys.path[0]


if __name__ == "__main__":
    _leave_current_folder_out()
    main()
