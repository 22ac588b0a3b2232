"""The same evaluation in another process: its recipe, and the worker that follows one."""
