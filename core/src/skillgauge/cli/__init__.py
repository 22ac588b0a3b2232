"""The command line: parse, call the pipeline, print. Nothing here decides anything about an evaluation."""
