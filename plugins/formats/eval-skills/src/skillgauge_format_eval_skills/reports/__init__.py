"""The result document of eval-skills: its keys, written from a run, and read back into one."""
