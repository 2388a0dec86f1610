"""What is stored and shown of a verdict. Pure data."""
