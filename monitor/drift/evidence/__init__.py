"""What a day says of the curve, and what makes it say less."""
