"""What each page shows, made of runs; templates draw it."""
