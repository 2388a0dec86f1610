"""The statement that counts a day, for warehouses: its dialects, its steps, and its forms."""
