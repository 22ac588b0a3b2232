"""The `judge` command of skillgauge: how far a judge agrees with people, and with itself."""
