"""The `docker` sandbox of skillgauge."""
