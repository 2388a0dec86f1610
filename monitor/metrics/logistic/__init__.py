"""Logistic recalibration: intercept, slope and curved maps, and evidence about them."""
