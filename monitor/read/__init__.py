"""What stands of each model and segment, read from the store once for all who show it."""
