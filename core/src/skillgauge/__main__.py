"""Entry point of the command `skillgauge`; answers `--version` before anything is imported."""

import sys

from . import __version__


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"skillgauge {__version__}\n")
        return
    from .cli.process import run  # noqa: PLC0415 - see the module docstring

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
