"""The parts that plugins share which ask a model over HTTP. Nothing is imported here: announcing stays cheap."""
