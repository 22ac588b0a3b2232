"""Methods for a difference of two arms over the same cases."""
