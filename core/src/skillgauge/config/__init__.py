"""Configuration: the origin of each value and how far its author is trusted. It knows no click and runs nothing."""
