"""Where a drift sits: segments, values of columns, parts of rows."""
