"""The version of the core, apart from the package itself, so that every room may read it."""

__version__ = "0.1.0"
