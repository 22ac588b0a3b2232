"""The sandbox `acme-cloud`."""
