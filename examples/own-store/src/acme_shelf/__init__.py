"""The store `acme-shelf`."""
