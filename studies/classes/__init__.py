"""How often the verdict of a model with classes is wrong, and how fast it is right."""
