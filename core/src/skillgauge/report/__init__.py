"""From results to what people and programs read: summaries, gates, written reports."""
