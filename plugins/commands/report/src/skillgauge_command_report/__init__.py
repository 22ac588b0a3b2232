"""The `report` command of skillgauge: show, convert and compare reports."""
