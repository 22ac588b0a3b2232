"""What adapters that call Python code have in common. Nothing is imported here, so that announcing stays cheap."""
