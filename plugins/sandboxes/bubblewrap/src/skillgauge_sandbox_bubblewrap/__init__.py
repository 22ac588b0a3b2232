"""The `bubblewrap` sandbox of skillgauge."""
