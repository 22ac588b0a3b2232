"""The format of `claude plugin eval`."""
