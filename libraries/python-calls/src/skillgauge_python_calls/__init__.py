"""The parts that adapters share which call Python code. Nothing is imported here, so that announcing stays cheap."""
