"""A window of days becomes measures. Pure."""
