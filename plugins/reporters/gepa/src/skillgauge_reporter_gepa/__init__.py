"""The GEPA export of skillgauge."""
