"""The curve of a reference, and how well it is known."""
