"""The only state: one file for each model, day and kind of result, replaced whole."""
