"""What every room may import: errors, names, texts, time and the version."""
