"""The judges `anthropic`, `gemini` and `openai` of skillgauge."""
