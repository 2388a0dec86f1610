"""Where the rows of a log lie: files, tables and queries, their days and their versions."""
