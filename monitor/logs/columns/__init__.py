"""What the columns of a log mean: type, check and expression of each, and canonical rows."""
