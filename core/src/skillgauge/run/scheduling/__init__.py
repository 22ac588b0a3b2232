"""The order of trials, how many run at once, and how they are stopped."""
