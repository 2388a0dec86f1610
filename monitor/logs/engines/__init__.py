"""How the rows of logs are read and asked: DuckDB here or Spark, types, and steps of SQL."""
