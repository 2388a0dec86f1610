"""The report page of a model: its results as one HTML file, and the index of all models."""
