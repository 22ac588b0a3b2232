"""The command `conformance` of skillgauge."""
