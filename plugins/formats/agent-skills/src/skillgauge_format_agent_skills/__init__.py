"""The Agent Skills format of skillgauge: evals and trigger sets of skills, and the document of skill-creator."""
