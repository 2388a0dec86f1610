"""Evidence over days: when an incident opens, what it is called, and when it closes."""
