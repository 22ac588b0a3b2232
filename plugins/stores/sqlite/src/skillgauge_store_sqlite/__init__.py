"""Keep runs in one SQLite file.

The entry point names `plugin`, which only announces; everything that needs `sqlite3` is behind its factory.
"""
