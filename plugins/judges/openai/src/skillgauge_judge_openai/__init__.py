"""The `openai` judge of skillgauge."""
