"""Evaluations of skills as tests: the plugin for pytest, and what tests assert."""

from .asserting import assert_helps, assert_lift, assert_passes

__all__ = ["assert_helps", "assert_lift", "assert_passes"]
