"""Questions that planning asks before anything runs: one module a question, each a function that returns problems."""
