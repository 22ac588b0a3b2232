"""The parts that commands share which choose among skills. Nothing is imported here; each takes what it needs."""
