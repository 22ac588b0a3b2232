"""The `langchain` adapter of skillgauge."""
