"""The `history` command of skillgauge: the runs that a store has kept."""
