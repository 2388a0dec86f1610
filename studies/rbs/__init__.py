"""The study of the root Brier score."""
