"""The segments that the program names itself; every other name comes from the configuration."""

WHOLE = "all"  # all segments together, and the only segment of a model that has none
OTHER = "other"  # rows whose value the configuration does not list
