"""The `local` sandbox of skillgauge."""
