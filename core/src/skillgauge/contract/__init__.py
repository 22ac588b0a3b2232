"""The obligations of a plugin's objects, one small protocol per kind, and the hooks by which plugins announce them.

Hooks only announce providers; behaviour lives in the protocols. Methods that do I/O are async. A method that is given
bad options or finds its surroundings unfit says so in `check`, before anything runs; during a trial it returns facts
and never raises for a failed execution. Values are the frozen ones of `skillgauge.types`.
"""
