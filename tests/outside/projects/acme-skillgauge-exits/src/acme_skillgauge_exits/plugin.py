"""Ends the program."""

raise SystemExit("acme-exits needs a license")
