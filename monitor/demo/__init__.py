"""Real flights, run through the whole system."""
