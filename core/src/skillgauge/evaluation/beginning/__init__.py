"""The beginning of a run: words of people are kept, and viewers are told."""
