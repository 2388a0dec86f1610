"""The paper's experiment: estimators of the calibration error before and after recalibration."""
