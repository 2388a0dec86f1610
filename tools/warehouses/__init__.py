"""Comparisons of the counts of warehouses, by hand, with those of rows."""
