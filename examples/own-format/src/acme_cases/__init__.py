"""The format `acme-cases`."""
