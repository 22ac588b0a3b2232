"""`skillgauge plugins new`: the project of a new plugin."""
