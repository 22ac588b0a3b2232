"""Plots of runs as SVG: lifts, cost against quality, and the calibration of a judge."""

from .calibration import calibration_plot
from .cost import cost_plot
from .forest import forest_plot
from .pictures import Picture

__all__ = ["Picture", "calibration_plot", "cost_plot", "forest_plot"]
