"""Days become a verdict: prior shift or calibration drift. Pure."""
