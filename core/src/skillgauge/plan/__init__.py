"""From what a user asks for to a complete plan: files found and loaded, plugins made and checked, trials counted."""
