"""Which days a run does, and what it does with them."""
