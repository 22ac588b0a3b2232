"""The judge `acme-judge`."""
