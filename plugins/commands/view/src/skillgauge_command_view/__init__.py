"""`skillgauge view`: runs in a browser, served on this machine or written as files."""
