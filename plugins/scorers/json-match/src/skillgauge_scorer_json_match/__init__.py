"""The `json-match` scorer of skillgauge."""
