"""What keeps the files of a store few, whole and sound."""
