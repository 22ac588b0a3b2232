"""The output of a dry run: the plan as people read it, and as one document."""
