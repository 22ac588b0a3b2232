"""The scorer `acme-terms`."""
