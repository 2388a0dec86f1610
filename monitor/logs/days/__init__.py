"""Which days are read, and what is counted of them."""
