"""What may be wrong with a row, as data, and the rows of a day in groups."""
