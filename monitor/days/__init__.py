"""What is known of a day and of a model, and how files are reached."""
