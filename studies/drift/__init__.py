"""The study of the verdict."""
