"""`eval --confirm RUN`: add repeats to a run, so that it can decide what it leaves open.

A comparison is continued as a whole: every case in both arms, and all trials, old and new, are counted together. Cases
that were chosen because they looked bad would look better the second time whatever the skill does. A run of such cases
is therefore shown by itself, without an interval, a finding or a gate.

Each continuation is one more look at the same question; `SuiteHead.looks` holds how many repeats there were at each. A
run that stops when it is decided is simply gone on with: its evidence may be looked at after every round.
"""
