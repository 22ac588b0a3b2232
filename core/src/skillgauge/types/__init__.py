"""The immutable values that travel down the pipeline, and nothing else.

Import them from `skillgauge.api`; the modules here only divide them by the stage that makes them.
"""
