"""The measures of a window of days, and what explains them. Pure."""
