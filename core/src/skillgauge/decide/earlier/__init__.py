"""A run beside an earlier one: which cases both have, whether gates on the change are met, and what changed."""
