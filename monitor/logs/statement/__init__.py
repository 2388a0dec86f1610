"""The statement that joins, checks and counts rows, and all that asks its rows."""
