"""The `gemini` judge of skillgauge."""
