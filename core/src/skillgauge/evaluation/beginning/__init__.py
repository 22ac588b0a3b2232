"""What is done about a run as it begins: words of people are kept, and viewers are told."""
