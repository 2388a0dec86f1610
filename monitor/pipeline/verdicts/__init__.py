"""From stored days to verdicts: references, readings, and where a drift sits."""
