"""Executions that were paid for are kept until it is graded, so that no kill has them made again."""
