"""The parts that engines of command-line agents share. Nothing is imported here, so that announcing stays cheap."""
