"""The executor `processes`: the trials of one run in several processes on this machine."""
