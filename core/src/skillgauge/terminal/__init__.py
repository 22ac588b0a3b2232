"""Print: output, streams, tables and progress. It decides nothing."""
