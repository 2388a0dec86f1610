"""Every number that is stored, exported or shown, declared once."""
