"""What several shelves read of stored days, and how work is shared."""
