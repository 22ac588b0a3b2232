"""What was executed and paid for is kept until it is graded, so that no kill has it executed again."""
