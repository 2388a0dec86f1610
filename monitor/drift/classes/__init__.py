"""Several classes: pairs, levels of classes, and scores of single classes."""
