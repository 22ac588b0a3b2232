"""What engines of command-line agents have in common. Nothing is imported here, so that announcing stays cheap."""
