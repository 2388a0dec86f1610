"""How often the search for where a drift sits is right."""
