"""Carry a plan out: schedule trials, run and grade them, keep what came of them, stay within limits."""
