"""The eval-skills format of skillgauge: its skills and benchmarks, and its result document."""
