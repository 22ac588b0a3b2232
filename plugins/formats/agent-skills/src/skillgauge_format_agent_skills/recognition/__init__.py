"""From paths to the files of suites: by their names, what stands in them, and the skill that they are about."""
