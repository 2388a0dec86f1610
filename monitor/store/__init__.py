"""The only state: one Parquet file for each model, day and kind of result, replaced whole."""
