"""The `transcripts` reporter of skillgauge."""
