"""Write cases as stimuli, and say what Vally has no words for."""
