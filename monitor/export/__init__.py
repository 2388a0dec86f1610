"""Evaluations as Prometheus gauges, through whatever door they are asked for."""
