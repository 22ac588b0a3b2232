"""Decide what a run means: gates, comparisons with an earlier run, ranking, and what a suite can show at all."""
