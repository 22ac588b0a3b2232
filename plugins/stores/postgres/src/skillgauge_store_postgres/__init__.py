"""Keep runs in a PostgreSQL database.

The entry point names `plugin`, which only announces; everything that needs psycopg is behind its factory.
"""
