"""The study of the verdict on real flights."""
