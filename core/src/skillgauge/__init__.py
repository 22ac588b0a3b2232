"""skillgauge: does a skill work, does it help, by how much, and did the next version break it.

This package is the kernel. Plugin authors import `skillgauge.api` and `skillgauge_testkit`; every other
module is private to the kernel. Nothing is imported here, so that the command line starts fast.
"""

__version__ = "0.1.0"
