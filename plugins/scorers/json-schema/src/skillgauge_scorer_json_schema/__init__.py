"""The `json-schema` scorer of skillgauge."""
