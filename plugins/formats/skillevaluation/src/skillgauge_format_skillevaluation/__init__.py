"""The `skillevaluation` format of skillgauge."""
