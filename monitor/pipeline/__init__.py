"""Dates in, store out: summarise, evaluate and judge days."""
