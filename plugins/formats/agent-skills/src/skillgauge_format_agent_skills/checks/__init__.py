"""Assertions, each as the check that decides it, and back."""
