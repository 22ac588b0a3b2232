"""Needs a library that nobody has."""

import acme_library_that_is_gone  # type: ignore[import-not-found]  # noqa: F401
