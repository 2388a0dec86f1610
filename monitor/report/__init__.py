"""Results for people: tables and sentences."""
