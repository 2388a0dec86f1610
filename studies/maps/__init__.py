"""How well calibration maps do."""
