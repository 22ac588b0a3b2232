"""The BenchFlow format of skillgauge: skills with and without, by a reward from 0 to 1."""
