"""The parts that commands share which show a run, and the parts of a trial: each topic is a module of its own."""
