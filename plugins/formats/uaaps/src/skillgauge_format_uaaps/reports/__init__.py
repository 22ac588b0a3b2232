"""The report of evals: its keys, written from a run, and read back into one."""
